// Compiled once for every instruction-set level, as weighted_sum.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "../src/core/column_sums.cpp"
#include <hwy/foreach_target.h>
// Must be included first: foreach_target.
#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::size_t at_once = 8;

template <class D>
HWY_INLINE hn::Vec<D> load_doubles(D d, const double* values) {
    return hn::LoadU(d, values);
}
template <class D>
HWY_INLINE hn::Vec<D> load_doubles(D d, const float* values) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), values));
}

/// @param partial eight sums, overwritten.
template <class Value>
HWY_INLINE void square_blocks(const Value* values, std::size_t blocks, double* partial) {
    const hn::CappedTag<double, at_once> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto squares = [&](std::size_t i, hn::Vec<decltype(d)> sum) {
        const auto value = load_doubles(d, values + i);
        return hn::Add(sum, hn::Mul(value, value));
    };
    if (2 * lanes == at_once) {  // both halves in one pass
        auto first = hn::Zero(d), second = first;
        for (std::size_t i = 0; i < blocks * at_once; i += at_once) {
            first = squares(i, first);
            second = squares(i + lanes, second);
        }
        hn::StoreU(first, d, partial);
        hn::StoreU(second, d, partial + lanes);
        return;
    }
    for (std::size_t part = 0; part < at_once; part += lanes) {
        auto sum = hn::Zero(d);
        for (std::size_t i = part; i < blocks * at_once; i += at_once) sum = squares(i, sum);
        hn::StoreU(sum, d, partial + part);
    }
}

/// sum[k] += trunc(scale values[k]).
template <class Value>
HWY_INLINE void add_block(const Value* values, double scale, std::size_t size, double* sum) {
    const hn::CappedTag<double, at_once> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto factor = hn::Set(d, scale);
    std::size_t k = 0;
    for (; k + lanes <= size; k += lanes) {
        const auto product = hn::Mul(load_doubles(d, values + k), factor);
        hn::StoreU(hn::Add(hn::LoadU(d, sum + k), hn::Trunc(product)), d, sum + k);
    }
    for (; k < size; ++k) sum[k] += std::trunc(static_cast<double>(values[k]) * scale);
}

/// out[k] = unit trunc(scale values[k]).
template <class Value>
HWY_INLINE void truncate_block(
    const Value* values, double scale, double unit, std::size_t size, double* out) {
    const hn::ScalableTag<double> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto factor = hn::Set(d, scale), step = hn::Set(d, unit), zero = hn::Zero(d);
    std::size_t k = 0;
    for (; k + lanes <= size; k += lanes) {
        const auto whole = hn::Trunc(hn::Mul(load_doubles(d, values + k), factor));
        hn::StoreU(hn::Mul(hn::Add(zero, whole), step), d, out + k);
    }
    for (; k < size; ++k)
        out[k] = (0.0 + std::trunc(static_cast<double>(values[k]) * scale)) * unit;
}

void square_floats(const float* values, std::size_t blocks, double* partial) {
    square_blocks(values, blocks, partial);
}
void square_doubles(const double* values, std::size_t blocks, double* partial) {
    square_blocks(values, blocks, partial);
}
void add_floats(const float* values, double scale, std::size_t size, double* sum) {
    add_block(values, scale, size, sum);
}
void add_doubles(const double* values, double scale, std::size_t size, double* sum) {
    add_block(values, scale, size, sum);
}

void truncate_floats(
    const float* values, double scale, double unit, std::size_t size, double* out) {
    truncate_block(values, scale, unit, size, out);
}
void truncate_doubles(
    const double* values, double scale, double unit, std::size_t size, double* out) {
    truncate_block(values, scale, unit, size, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "core/column_sums.hpp"

namespace sotto {

HWY_EXPORT(square_floats);
HWY_EXPORT(square_doubles);
HWY_EXPORT(add_floats);
HWY_EXPORT(add_doubles);
HWY_EXPORT(truncate_floats);
HWY_EXPORT(truncate_doubles);

namespace {

constexpr std::size_t squares_at_once = 8;
constexpr std::size_t summed_block = 2048;  // coordinates: 16 KiB of sums

template <class Value, class SquareBlocks>
double squares_of(std::span<const Value> values, SquareBlocks square_blocks) {
    double partial[squares_at_once];
    const std::size_t blocks = values.size() / squares_at_once;
    square_blocks(values.data(), blocks, partial);
    for (std::size_t i = blocks * squares_at_once; i < values.size(); ++i)
        partial[i % squares_at_once] +=
            static_cast<double>(values[i]) * static_cast<double>(values[i]);
    return ((partial[0] + partial[4]) + (partial[1] + partial[5])) +
           ((partial[2] + partial[6]) + (partial[3] + partial[7]));
}

template <class Value, class AddBlock>
void add_columns(std::span<const Value* const> columns,
                 std::span<const double> scales,
                 std::span<double> sum,
                 AddBlock add_block) {
    for (std::size_t first = 0; first < sum.size(); first += summed_block) {
        const std::size_t size = std::min(summed_block, sum.size() - first);
        for (std::size_t j = 0; j < columns.size(); ++j)
            add_block(columns[j] + first, scales[j], size, sum.data() + first);
    }
}

}  // namespace

double sum_of_squares(std::span<const float> values) {
    return squares_of(values, HWY_DYNAMIC_DISPATCH(square_floats));
}
double sum_of_squares(std::span<const double> values) {
    return squares_of(values, HWY_DYNAMIC_DISPATCH(square_doubles));
}
void add_truncated(std::span<const float* const> columns,
                   std::span<const double> scales,
                   std::span<double> sum) {
    add_columns(columns, scales, sum, HWY_DYNAMIC_DISPATCH(add_floats));
}
void add_truncated(std::span<const double* const> columns,
                   std::span<const double> scales,
                   std::span<double> sum) {
    add_columns(columns, scales, sum, HWY_DYNAMIC_DISPATCH(add_doubles));
}
void truncate_to_units(std::span<const float> values,
                       double scale,
                       double unit,
                       std::span<double> out) {
    HWY_DYNAMIC_DISPATCH(truncate_floats)(values.data(), scale, unit, out.size(), out.data());
}
void truncate_to_units(std::span<const double> values,
                       double scale,
                       double unit,
                       std::span<double> out) {
    HWY_DYNAMIC_DISPATCH(truncate_doubles)(values.data(), scale, unit, out.size(), out.data());
}

}  // namespace sotto
#endif
