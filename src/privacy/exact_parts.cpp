#include "privacy/exact_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "privacy/normal_tails.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {

namespace {

double gaussian_delta(double mu, double epsilon) {
    if (epsilon >= 0) return gdp_delta(mu, epsilon);
    return -std::expm1(epsilon) + std::exp(epsilon) * gdp_delta(mu, -epsilon);
}

double log_gaussian_delta(double mu, double epsilon) {
    const double z = epsilon / mu - mu / 2;
    if (mu == 0 || z < 20) return std::log(gaussian_delta(mu, epsilon));
    return std::log(mills_difference(z, mu) / std::sqrt(2 * std::numbers::pi)) - 0.5 * z * z;
}

}  // namespace

double exact_delta(const ExactParts& parts, double epsilon) {
    if (std::isinf(parts.mu_squared) || std::isinf(parts.pure)) return 1;
    const double mu = std::sqrt(parts.mu_squared);
    if (parts.pure == 0) return gaussian_delta(mu, epsilon);
    const double odds = std::exp(-parts.pure);  // (1 - p) / p
    return (gaussian_delta(mu, epsilon - parts.pure) +
            odds * gaussian_delta(mu, epsilon + parts.pure)) /
           (1 + odds);
}

double log_exact_delta(const ExactParts& parts, double epsilon) {
    if (std::isinf(parts.mu_squared) || std::isinf(parts.pure)) return 0;
    const double mu = std::sqrt(parts.mu_squared);
    if (parts.pure == 0) return log_gaussian_delta(mu, epsilon);
    const double odds = std::exp(-parts.pure);
    const double near = log_gaussian_delta(mu, epsilon - parts.pure) - std::log1p(odds);
    const double far = log_gaussian_delta(mu, epsilon + parts.pure) - parts.pure - std::log1p(odds);
    const double top = std::max(near, far);
    return top > -HUGE_VAL ? top + std::log1p(std::exp(std::min(near, far) - top)) : top;
}

double exact_log_moment(const ExactParts& parts, double tilt) {
    const double gaussian = parts.mu_squared * tilt * (tilt + 1) / 2;
    const double odds = std::exp(-parts.pure);
    return gaussian + tilt * parts.pure +
           std::log1p(odds * std::expm1(-2 * tilt * parts.pure) / (1 + odds));
}

}  // namespace sotto
