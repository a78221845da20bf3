#pragma once

#include <Eigen/Dense>

#include "sotto/privacy/budget.hpp"

namespace sotto {

/// Signs s_t in {-1, 0, 1} with a large s^T Gram s: coordinate ascent from constant, alternating
/// and random signs, over the rounds of the worst participation pattern. A lower bound of what
/// signs attain; 0 in rounds without participation.
[[nodiscard]] Eigen::VectorXd worst_signs(const Eigen::MatrixXd& gram,
                                          const Participation& participation);

}  // namespace sotto
