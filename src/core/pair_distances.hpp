#pragma once

#include <Eigen/Dense>
#include <span>

namespace sotto {

/// Rows of add_pair_distances are a multiple of it.
inline constexpr Eigen::Index pair_distance_lanes = 8;

/// Two columns of a matrix.
struct ColumnPair {
    int first = 0;
    int second = 0;
};

/// sums[k] += |column(first) - column(second)|^2 for every pair. In an order of eight partial sums,
/// never fused: the same bits on every x86-64 level, chosen at run time.
/// @param columns  with a multiple of pair_distance_lanes rows (pad with zeros).   @param sums one
/// per pair. Cost: rows of every pair.  @throws Error for another number of rows or sums.
void add_pair_distances(const Eigen::MatrixXd& columns,
                        std::span<const ColumnPair> pairs,
                        std::span<double> sums);

}  // namespace sotto
