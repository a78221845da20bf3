#include "privacy/normal_tails.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

namespace sotto {

namespace {

/// From here on the asymptotic series 1/t - 1/t^3 + 3/t^5 - ... is used: the first omitted term,
/// 11!!/t^13, is below 1e-14 of the sum.
constexpr double far_out = 35;
const double log_sqrt_two_pi = 0.5 * std::log(2 * std::numbers::pi);

/// 1 - t m(t) = -m'(t).
double mills_slope(double t) {
    if (t < far_out) return 1 - t * mills_ratio(t);
    const double q = 1 / (t * t);
    return q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q))));
}

}  // namespace

double normal_above(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

double log_normal_above(double z) {
    if (z < -1) return std::log1p(-normal_above(-z));
    if (z < 1) return std::log(normal_above(z));
    return std::log(mills_ratio(z)) - 0.5 * z * z - log_sqrt_two_pi;
}

double log_normal_between(double low, double high) {
    if (!(low < high)) return -HUGE_VAL;
    if (high <= 0) return log_normal_between(-high, -low);
    if (low < 0) return std::log1p(-normal_above(-low) - normal_above(high));
    const double above = log_normal_above(low);
    return above + std::log(-std::expm1(log_normal_above(high) - above));
}

double normal_tail_point(double tail) {
    return std::numbers::sqrt2 * boost::math::erfc_inv(2 * std::max(tail, 1e-300));
}

double mills_ratio(double t) {
    if (t < far_out)
        return 0.5 * std::erfc(t / std::numbers::sqrt2) * std::exp(0.5 * t * t + log_sqrt_two_pi);
    const double q = 1 / (t * t);
    return (1 - q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q))))) / t;
}

double mills_difference(double t, double width) {
    if (width > 0.5) return mills_ratio(t) - mills_ratio(t + width);
    return width * boost::math::quadrature::gauss<double, 7>::integrate(
                       [&](double share) { return mills_slope(t + width * share); }, 0.0, 1.0);
}

}  // namespace sotto
