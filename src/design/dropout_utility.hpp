#pragma once

#include <Eigen/Dense>

#include "sotto/design/design.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// M where every agent misses every round with the same probability p, independently: it then sends
/// nothing, adds no noise and keeps its model, and its neighbours give its weight to their own
/// models,
///
///     M = E[D W_1^T (w_1 1 + W_2^T (w_2 1 + ...) W_2) W_1 D],  W_k = 1 - sum_e d_u d_v L_e,
///
/// D = diag(d) of the first round, 1 - L_e what W does on the link e = {u, v} alone. The
/// expectation is exact (docs/equations.md 20). p = 0: utility_matrix. For 0 < p < 1 it is positive
/// definite, whatever W.
///
/// @param mixing rows sum to 1.  @param rounds T >= 1.  @param probability in [0, 1).
/// @return n x n, symmetric. Pure. Cost: O(n entries(W) + sum of squared degrees) an age that
/// counts.
/// @throws ConfigError for push-sum, whose missing agents' sums would go, and for the probability.
[[nodiscard]] Eigen::MatrixXd dropout_utility(const MixingMatrix& mixing,
                                              const Utility& utility,
                                              long rounds,
                                              double probability);

/// What is left of a plan's noise, as Tr(M R), where those who are there publish the streams that
/// they share with agents who miss the round, and all subtract them: a stream counts only where
/// every holder of its seed is there (docs/equations.md 20). What that reveals: dropout_precision.
///
/// @param plan of noise that is the same to every receiver and independent between rounds.
/// @return in units of scale^2. Pure. Cost: as dropout_utility, and O(n^2) a stream.
/// @throws ConfigError as dropout_utility.
[[nodiscard]] double recovered_noise(const NoisePlan& plan,
                                     const MixingMatrix& mixing,
                                     const Utility& utility,
                                     long rounds,
                                     double probability);

}  // namespace sotto
