// Compiled once for every instruction-set level: Highway includes this file again for each. The
// best level is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "../src/core/weighted_sum.cpp"
#include <hwy/foreach_target.h>
// Must be included first: foreach_target.
#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// `Vectors` vectors from `at` on, in registers for all columns.
template <std::size_t Vectors>
HWY_INLINE void sum_registers(const double* const* columns,
                              const double* weights,
                              std::size_t count,
                              std::size_t at,
                              double* out) {
    const hn::ScalableTag<double> d;
    const std::size_t lanes = hn::Lanes(d);
    hn::Vec<decltype(d)> sum[Vectors];
    const auto first = hn::Set(d, weights[0]);
    for (std::size_t v = 0; v < Vectors; ++v)
        sum[v] = hn::Mul(first, hn::LoadU(d, columns[0] + at + v * lanes));
    for (std::size_t j = 1; j < count; ++j) {
        const auto weight = hn::Set(d, weights[j]);
        const double* const column = columns[j] + at;
        for (std::size_t v = 0; v < Vectors; ++v)
            sum[v] = hn::Add(sum[v], hn::Mul(weight, hn::LoadU(d, column + v * lanes)));
    }
    for (std::size_t v = 0; v < Vectors; ++v) hn::StoreU(sum[v], d, out + at + v * lanes);
}

/// The whole sum in blocks of `Vectors` vectors; false if it is shorter than one block. The last
/// block may overlap the one before: `out` is no input, so the same values are written again.
template <std::size_t Vectors>
HWY_INLINE bool sum_blocks(const double* const* columns,
                           const double* weights,
                           std::size_t count,
                           double* out,
                           std::size_t size) {
    const std::size_t block = Vectors * hn::Lanes(hn::ScalableTag<double>());
    if (size < block) return false;
    std::size_t i = 0;
    for (; i + block <= size; i += block) sum_registers<Vectors>(columns, weights, count, i, out);
    if (i < size) sum_registers<Vectors>(columns, weights, count, size - block, out);
    return true;
}

void sum_columns(const double* const* columns,
                 const double* weights,
                 std::size_t count,
                 double* out,
                 std::size_t size) {
    if (sum_blocks<8>(columns, weights, count, out, size)) return;
    if (sum_blocks<2>(columns, weights, count, out, size)) return;
    if (sum_blocks<1>(columns, weights, count, out, size)) return;
    for (std::size_t i = 0; i < size; ++i) {
        double sum = weights[0] * columns[0][i];
        for (std::size_t j = 1; j < count; ++j) sum = sum + weights[j] * columns[j][i];
        out[i] = sum;
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <fmt/format.h>

#include <algorithm>

#include "core/weighted_sum.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

HWY_EXPORT(sum_columns);

void weighted_sum(std::span<const double* const> columns,
                  std::span<const double> weights,
                  std::span<double> out) {
    if (columns.size() != weights.size())
        throw Error(
            ExitCode::other,
            fmt::format(
                "weighted sum of {} columns with {} weights", columns.size(), weights.size()));
    if (columns.empty()) {
        std::fill(out.begin(), out.end(), 0.0);
        return;
    }
    HWY_DYNAMIC_DISPATCH(sum_columns)
    (columns.data(), weights.data(), columns.size(), out.data(), out.size());
}

}  // namespace sotto
#endif
