#include "privacy/normal_tails.hpp"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace sotto {

namespace {

/// From here on the asymptotic series 1/t - 1/t^3 + 3/t^5 - ... is used: the first term left out,
/// 11!!/t^13, is below 1e-14 of the sum.
constexpr double far = 35;
const double log_sqrt_two_pi = 0.5 * std::log(2 * std::numbers::pi);

/// 1 - t m(t) = -m'(t).
double mills_slope(double t) {
    if (t < far) return 1 - t * mills_ratio(t);
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
    if (t < far)
        return 0.5 * std::erfc(t / std::numbers::sqrt2) * std::exp(0.5 * t * t + log_sqrt_two_pi);
    const double q = 1 / (t * t);
    return (1 - q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q))))) / t;
}

double mills_difference(double t, double width) {
    if (width > 0.5) return mills_ratio(t) - mills_ratio(t + width);
    // Gauss-Legendre with four nodes on [0, 1]: the integrand changes little.
    constexpr std::array<double, 4> nodes{
        0.0694318442029737124, 0.330009478207571868, 0.669990521792428132, 0.930568155797026288};
    constexpr std::array<double, 4> weights{0.173927422568726929,
                                            0.326072577431273071,
                                            0.326072577431273071,
                                            0.173927422568726929};
    double sum = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        sum += weights[i] * mills_slope(t + width * nodes[i]);
    return width * sum;
}

}  // namespace sotto
