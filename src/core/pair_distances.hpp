#pragma once

#include <Eigen/Dense>
#include <span>

namespace sotto {

/// The row count of add_pair_distances must be a multiple of this.
inline constexpr Eigen::Index pair_distance_lanes = 8;

/// Two columns of a matrix.
struct ColumnPair {
    int first = 0;
    int second = 0;
};

/// sums[k] += |column(first) - column(second)|^2 for every pair, in eight partial sums, never
/// fused: the same bits on every x86-64 level, chosen at run time. Cost: rows of every pair.
/// @param columns with a multiple of pair_distance_lanes rows (pad with zeros).
/// @param sums one per pair.
/// @throws Error for another number of rows or sums.
void add_pair_distances(const Eigen::MatrixXd& columns,
                        std::span<const ColumnPair> pairs,
                        std::span<double> sums);

}  // namespace sotto
