#pragma once

// What objectives write into a vector they are given, as values.

#include <Eigen/Dense>
#include <boost/multiprecision/cpp_int.hpp>
#include <vector>

#include "sotto/learn/objective.hpp"

namespace sotto::test {

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

/// Exact comparison: no rounding in squares, sum or bound.
inline bool norm_is_at_most(const Eigen::VectorXd& vector, double bound) {
    using boost::multiprecision::cpp_rational;
    cpp_rational squares = 0;
    for (const double value : vector) squares += cpp_rational(value) * cpp_rational(value);
    return squares <= cpp_rational(bound) * cpp_rational(bound);
}

}  // namespace sotto::test
