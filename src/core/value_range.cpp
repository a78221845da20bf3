#include "sotto/core/value_range.hpp"

#include <algorithm>

namespace sotto {

namespace {

/// Between these no square, and no sum of 2^400 of them, leaves the range of doubles.
constexpr double smallest_safe_norm = 0x1p-300, largest_safe_norm = 0x1p300;

double norm_of(const Eigen::Ref<const Eigen::VectorXd>& values, bool l1) {
    return l1 ? values.lpNorm<1>() : values.norm();
}

}  // namespace

std::optional<RangedNorm> ranged_norm(Eigen::Ref<Eigen::VectorXd> values, bool l1) {
    const double norm = norm_of(values, l1);
    if (norm >= smallest_safe_norm && norm <= largest_safe_norm) return RangedNorm{norm, 0};
    if (!values.allFinite()) return std::nullopt;
    const double largest = values.size() > 0 ? values.cwiseAbs().maxCoeff() : 0;
    if (largest == 0) return RangedNorm{0, 0};
    const int exponent = std::ilogb(largest);
    // In two steps: 2^-exponent itself may be out of range.
    values *= std::ldexp(1.0, -exponent / 2);
    values *= std::ldexp(1.0, -exponent - -exponent / 2);
    return RangedNorm{norm_of(values, l1), exponent};
}

std::size_t limit_values(std::span<double> values, double limit) {
    if (!first_beyond(values, limit)) return 0;
    std::size_t changed = 0;
    for (double& value : values) {
        if (std::abs(value) <= limit) continue;
        value = std::isnan(value) ? 0 : std::copysign(limit, value);
        ++changed;
    }
    return changed;
}

std::optional<std::size_t> first_beyond(std::span<const double> values, double limit) {
    // Without a branch a value, so that it is done several at a time.
    std::size_t beyond = 0;
    for (const double value : values) beyond += std::abs(value) <= limit ? 0 : 1;
    if (beyond == 0) return std::nullopt;
    const auto found =
        std::ranges::find_if(values, [&](double value) { return !(std::abs(value) <= limit); });
    return static_cast<std::size_t>(found - values.begin());
}

}  // namespace sotto
