#pragma once

#include <cstddef>
#include <span>

namespace sotto {

/// out[i] = sum_j weights[j] * columns[j][i], added in the order of j with one rounding per product
/// and per sum (never fused), starting from weights[0] * columns[0][i]. The same bits on every
/// x86-64 level: SIMD width is chosen at run time, and lanes are independent. Mixes models and
/// combines noise streams. Memory-bound for long columns: each is read once, in blocks that fit the
/// L1 cache.
///
/// @param columns pointers to at least out.size() values each; none may overlap `out`.
/// @param weights one per column. An empty list gives zeros.
void weighted_sum(std::span<const double* const> columns,
                  std::span<const double> weights,
                  std::span<double> out);

}  // namespace sotto
