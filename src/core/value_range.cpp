// Compiled once for every instruction-set level: Highway includes this file again for each. The
// best level is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "../src/core/value_range.cpp"
#include <hwy/foreach_target.h>
// Must be included first: foreach_target.
#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Whether all values are within [-limit, limit]; NaN is not.
bool all_within(const double* values, std::size_t size, double limit) {
    constexpr std::size_t at_once = 4;  // independent comparisons
    const hn::ScalableTag<double> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto largest = hn::Set(d, limit);
    const auto within = [&](std::size_t at) {
        return hn::Le(hn::Abs(hn::LoadU(d, values + at)), largest);
    };
    std::size_t i = 0;
    for (; i + at_once * lanes <= size; i += at_once * lanes) {
        auto all = within(i);
        for (std::size_t v = 1; v < at_once; ++v) all = hn::And(all, within(i + v * lanes));
        if (!hn::AllTrue(d, all)) return false;
    }
    for (; i < size; ++i)
        if (!(std::abs(values[i]) <= limit)) return false;
    return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "core/value_range.hpp"

namespace sotto {

HWY_EXPORT(all_within);

namespace {

/// Within these bounds no square, and no sum of 2^400 squares, leaves the range of doubles.
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
    // In two steps, since 2^-exponent itself may be out of range.
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
    if (HWY_DYNAMIC_DISPATCH(all_within)(values.data(), values.size(), limit)) return std::nullopt;
    const auto found =
        std::ranges::find_if(values, [&](double value) { return !(std::abs(value) <= limit); });
    return static_cast<std::size_t>(found - values.begin());
}

}  // namespace sotto
#endif
