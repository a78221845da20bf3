#pragma once

#include <cstddef>
#include <span>

namespace sotto {

/// out[i] = sum_j weights[j] * columns[j][i], added in the order of j with one rounding per
/// product and per sum (never fused), starting from weights[0] * columns[0][i]. The same bits on
/// every x86-64 level: SIMD width is chosen at run time but lanes are independent. Used to mix
/// models and to combine noise streams. Bound by memory for long columns: every column is read
/// once, in blocks that stay in the first-level cache.
///
/// @param columns pointers to at least out.size() values each; none may overlap `out`.
/// @param weights one per column. An empty list gives zeros.
void weighted_sum(std::span<const double* const> columns,
                  std::span<const double> weights,
                  std::span<double> out);

}  // namespace sotto
