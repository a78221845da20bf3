#pragma once

#include <Eigen/Dense>
#include <string>

#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// How far a sum of weights may be from 1.
inline constexpr double row_sum_tolerance = 1e-9;

/// @throws DataError that begins with `name` and gives the entry, unless `dense` is a mixing matrix
/// of the graph: n x n, finite, 0 where an agent hears nothing, rows (push_sum: columns) sum to 1.
/// Entries may be negative, but not with push_sum; then all eigenvalues but that of the mean must
/// have modulus at most 1 (within row_sum_tolerance), which is so by itself where none is.
/// Cost: O(n^2), O(n^3) with negative entries.
void check_mixing(const Graph& graph,
                  const Eigen::MatrixXd& dense,
                  MixingKind kind,
                  const std::string& name);

}  // namespace sotto
