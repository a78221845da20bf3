#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "sotto/privacy/budget.hpp"
#include "sotto/views/squared_sensitivity.hpp"

namespace sotto {

/// Sensitivities of observations O = A G + B Z given as matrices ([U] definition 5): rows of A and
/// B are observed values, columns of A are contributions (round t, agent u) at t * agents + u,
/// columns of B independent unit normals. Dense: O(rows^2 columns). @throws ConfigError for sizes
/// that do not fit, DataError for values that are not finite.
[[nodiscard]] std::vector<SquaredSensitivity> matrix_sensitivity(const Eigen::MatrixXd& a,
                                                                 const Eigen::MatrixXd& b,
                                                                 int agents,
                                                                 std::span<const int> targets,
                                                                 const Participation& participation,
                                                                 double tight_gap);

}  // namespace sotto
