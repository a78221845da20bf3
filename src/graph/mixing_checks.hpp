#pragma once

#include <Eigen/Dense>
#include <string>

#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// Tolerance of sums of weights.
inline constexpr double row_sum_tolerance = 1e-9;

/// Checks that `dense` is a mixing matrix of the graph: n x n, finite, 0 where an agent hears
/// nothing, rows (push_sum: columns) sum to 1. Negative entries are refused with push_sum;
/// otherwise all eigenvalues other than the mean's must have modulus at most 1 (within
/// row_sum_tolerance), which always holds without negative entries. Cost: O(n^2), O(n^3) with
/// negative entries.
/// @throws DataError beginning with `name` and giving the entry.
void check_mixing(const Graph& graph,
                  const Eigen::MatrixXd& dense,
                  MixingKind kind,
                  const std::string& name);

}  // namespace sotto
