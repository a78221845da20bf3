#pragma once

#include <Eigen/Dense>
#include <string>

#include "sotto/graph/graph.hpp"

namespace sotto {

/// @throws DataError that begins with `name` and gives the entry, unless `dense` is a mixing matrix
/// of the graph.
void check_mixing(const Graph& graph, const Eigen::MatrixXd& dense, const std::string& name);

}  // namespace sotto
