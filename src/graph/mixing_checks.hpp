#pragma once

#include <Eigen/Dense>
#include <string>

#include "sotto/graph/graph.hpp"

namespace sotto {

/// How far a sum of weights may be from 1.
inline constexpr double row_sum_tolerance = 1e-9;

/// @throws DataError that begins with `name` and gives the entry, unless `dense` is a mixing matrix
/// of the graph.
void check_mixing(const Graph& graph, const Eigen::MatrixXd& dense, const std::string& name);

}  // namespace sotto
