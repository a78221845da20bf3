#include "sotto/privacy/gdp.hpp"

#include <fmt/format.h>

#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <numbers>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

void require_mu(double mu) {
    if (!(mu >= 0))
        throw ConfigError(fmt::format("mu: {} is not allowed (must be at least 0)", mu));
}

double normal_density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// Mills ratio (1 - Phi(t)) / phi(t) for t >= 0.
double mills_ratio(double t) {
    if (t < 35) return 0.5 * std::erfc(t / std::numbers::sqrt2) / normal_density(t);
    // Asymptotic series 1/t - 1/t^3 + 3/t^5 - ...: the first term left out, 11!!/t^13, is below
    // 1e-14 of the sum from t = 35 on.
    const double q = 1 / (t * t);
    return (1 - q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q))))) / t;
}

template <class Function>
double find_root(Function f, double lower, double upper) {
    std::uintmax_t iterations = 200;
    const auto [a, b] = boost::math::tools::toms748_solve(
        f, lower, upper, boost::math::tools::eps_tolerance<double>(50), iterations);
    return 0.5 * (a + b);
}

}  // namespace

void require_delta(std::string_view option, double delta) {
    if (!(delta > 0 && delta < 1))
        throw ConfigError(fmt::format(
            "{}: {} is not allowed (must lie strictly between 0 and 1)", option, delta));
}

void require_epsilon(double epsilon) {
    if (!(epsilon >= 0 && std::isfinite(epsilon)))
        throw ConfigError(
            fmt::format("epsilon: {} is not allowed (must be finite and not negative)", epsilon));
}

double gdp_delta(double mu, double epsilon) {
    require_mu(mu);
    require_epsilon(epsilon);
    if (mu == 0) return 0;
    if (std::isinf(mu)) return 1;
    const double a = -epsilon / mu + mu / 2;
    const double b = a - mu;
    // e^epsilon phi(b) = phi(a), so e^epsilon Phi(b) = phi(a) mills(-b) never overflows.
    if (a > 0) return normal_cdf(a) - normal_density(a) * mills_ratio(-b);
    return normal_density(a) * (mills_ratio(-a) - mills_ratio(-b));
}

double gdp_epsilon(double mu, double delta) {
    require_mu(mu);
    require_delta("delta", delta);
    if (std::isinf(mu)) return infinity;
    if (gdp_delta(mu, 0) <= delta) return 0;
    const double upper = rdp_epsilon(mu, delta);
    return find_root([&](double epsilon) { return gdp_delta(mu, epsilon) - delta; }, 0.0, upper);
}

double gdp_mu(double epsilon, double delta) {
    require_epsilon(epsilon);
    require_delta("delta", delta);
    // rdp_mu is too small; doubling finds a mu that is too large.
    double lower = rdp_mu(epsilon, delta);
    double upper = 2 * lower;
    while (gdp_delta(upper, epsilon) < delta) {
        lower = upper;
        upper *= 2;
        if (!(upper < 1e150))
            throw ConfigError(
                fmt::format("epsilon {} with delta {} is met by any noise", epsilon, delta));
    }
    return find_root([&](double mu) { return gdp_delta(mu, epsilon) - delta; }, lower, upper);
}

double rdp_epsilon(double mu, double delta) {
    require_mu(mu);
    require_delta("delta", delta);
    return mu * mu / 2 + mu * std::sqrt(-2 * std::log(delta));
}

double rdp_mu(double epsilon, double delta) {
    require_epsilon(epsilon);
    require_delta("delta", delta);
    // sqrt(2 log(1/delta) + 2 epsilon) - sqrt(2 log(1/delta)) without cancellation.
    const double root = std::sqrt(-2 * std::log(delta));
    return 2 * epsilon / (root + std::sqrt(root * root + 2 * epsilon));
}

double paper_mu(double epsilon, double delta) {
    require_epsilon(epsilon);
    require_delta("delta", delta);
    return epsilon / (2 * std::sqrt(-std::log(delta)));
}

}  // namespace sotto
