#pragma once

#include <span>

namespace sotto {

/// Sum of squares, in double precision and eight partial sums, never fused: the same bits on every
/// x86-64 level, chosen at run time. Values that are not finite make it so; squares of floats never
/// overflow. Cost: one pass.
[[nodiscard]] double sum_of_squares(std::span<const float> values);
[[nodiscard]] double sum_of_squares(std::span<const double> values);

/// sum[k] += trunc(scales[j] columns[j][k]) for every column j, in order. Columns are read once,
/// block by block, while a block of `sum` stays in the cache; the same bits on every level.
/// @param columns each of sum.size() finite values.  @param scales one per column.
void add_truncated(std::span<const float* const> columns,
                   std::span<const double> scales,
                   std::span<double> sum);
void add_truncated(std::span<const double* const> columns,
                   std::span<const double> scales,
                   std::span<double> sum);

/// out[k] = unit trunc(scale values[k]), in one pass; zeros are positive. The same bits as
/// add_truncated to zeros and a product with `unit`, on every level.
/// @param values finite, as many as `out` has.
void truncate_to_units(std::span<const float> values,
                       double scale,
                       double unit,
                       std::span<double> out);
void truncate_to_units(std::span<const double> values,
                       double scale,
                       double unit,
                       std::span<double> out);

}  // namespace sotto
