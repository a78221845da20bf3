#pragma once

// What objectives write into a vector they are given, as values.

#include <Eigen/Dense>
#include <vector>

#include "sotto/learn/objective.hpp"

namespace sotto::testing {

inline Eigen::VectorXd mean_gradient(Objective& objective,
                                     const Eigen::VectorXd& model,
                                     const std::vector<Eigen::Index>& rows) {
    Eigen::VectorXd gradient = Eigen::VectorXd::Constant(objective.dimension(), 1e9);
    objective.mean_gradient(model, rows, gradient);
    return gradient;
}

inline Eigen::VectorXd clipped_sum(Objective& objective,
                                   const Eigen::VectorXd& model,
                                   const std::vector<Eigen::Index>& rows,
                                   double clip,
                                   double grid) {
    Eigen::VectorXd sum = Eigen::VectorXd::Constant(objective.dimension(), 1e9);
    objective.clipped_gradient_sum(model, rows, clip, grid, sum);
    return sum;
}

}  // namespace sotto::testing
