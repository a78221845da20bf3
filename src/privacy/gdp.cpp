#include "sotto/privacy/gdp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "privacy/normal_tails.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

void require_mu(double mu) {
    if (!(mu >= 0))
        throw ConfigError(fmt::format("mu: {} is not allowed (must be at least 0)", mu));
}

double normal_density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }

/// delta at epsilon = mu (mu/2 + z): a threshold test at z misses by Phi(-z).
double delta_at(double mu, double z) {
    if (z < -1) return normal_above(z) - normal_density(z) * mills_ratio(z + mu);
    return normal_density(z) * mills_difference(z, mu);
}

/// The z >= least with delta_at(mu_at(z), z) = delta, which falls as z grows: sqrt(2 log(1/delta))
/// is an upper bound (rdp_epsilon), and steps below it that double find a lower one.
template <class MuAt>
double threshold_for(double delta, double least, const MuAt& mu_at) {
    const auto excess = [&](double z) { return delta_at(mu_at(z), z) - delta; };
    const double upper = std::sqrt(-2 * std::log(delta));
    double lower = upper, at_lower = -delta;
    for (double reach = 1; !(at_lower >= 0) && lower > least; reach *= 2) {
        lower = std::max(least, lower - reach);
        at_lower = excess(lower);
    }
    const double at_upper = excess(upper);
    if (!(at_lower > 0)) return lower;
    if (!(at_upper < 0)) return upper;
    std::uintmax_t iterations = 200;
    const auto [a, b] =
        boost::math::tools::toms748_solve(excess,
                                          lower,
                                          upper,
                                          at_lower,
                                          at_upper,
                                          boost::math::tools::eps_tolerance<double>(50),
                                          iterations);
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
    return std::clamp(delta_at(mu, epsilon / mu - mu / 2), 0.0, 1.0);
}

double gdp_epsilon(double mu, double delta) {
    require_mu(mu);
    require_delta("delta", delta);
    if (std::isinf(mu)) return infinity;
    if (gdp_delta(mu, 0) <= delta) return 0;
    const double z = threshold_for(delta, -mu / 2, [&](double) { return mu; });
    return mu * (mu / 2 + z);
}

double gdp_mu(double epsilon, double delta) {
    require_epsilon(epsilon);
    require_delta("delta", delta);
    // The mu > 0 with mu (mu/2 + z) = epsilon.
    const auto mu_at = [&](double z) {
        const double root = std::hypot(z, std::sqrt(2 * epsilon));
        return z > 0 ? 2 * epsilon / (z + root) : root - z;
    };
    return mu_at(threshold_for(delta, -infinity, mu_at));
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
