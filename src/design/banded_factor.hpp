#pragma once

#include <Eigen/Dense>
#include <span>

#include "sotto/design/shaped_factor.hpp"

namespace sotto {

/// C_time with B subdiagonals that leaves little noise over many rounds, unit columns in C_time and
/// with B < cycle, so that sens2 = ceil(T / cycle). Minimises sum_i w_i gain_i (mode_gains) over
/// the band by L-BFGS with the derivative of the recursion, from the best of a few bands of powers
/// of one number. No matrix with T columns is formed, and X_time need not be: not convex, hence no
/// lower bound.
/// @param values, weights  lambda_i and w_i of the modes.  @param restart see TemporalShape.
/// Pure. Cost: O(T (B^2 + modes B)) time an iteration and T B (modes + 1) numbers of memory.
/// @throws ConfigError if band < 1 or band >= cycle.
[[nodiscard]] ShapedFactor solve_banded_factor(const Eigen::VectorXd& values,
                                               const Eigen::VectorXd& weights,
                                               std::span<const double> step_sizes,
                                               long cycle,
                                               long band,
                                               long restart = 0);

}  // namespace sotto
