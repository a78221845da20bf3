#pragma once

#include <Eigen/Dense>

#include "sotto/design/design.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// M if every agent misses every round with the same probability p, independently. A missing agent
/// sends nothing, adds no noise and keeps its model; its neighbours move its weight to their own
/// models:
///
///     M = E[D W_1^T (w_1 1 + W_2^T (w_2 1 + ...) W_2) W_1 D],  W_k = 1 - sum_e d_u d_v L_e,
///
/// D = diag(d) of the first round, 1 - L_e the effect of W on the link e = {u, v} alone. The
/// expectation is exact (docs/equations.md#rounds-that-agents-miss). p = 0: utility_matrix. For 0 <
/// p < 1 it is positive definite for every W. Pure. Cost: O(n entries(W) + sum of squared degrees)
/// per age that counts.
///
/// @param mixing rows sum to 1.
/// @param rounds T >= 1.
/// @param probability in [0, 1).
/// @return n x n, symmetric.
/// @throws ConfigError for push-sum, which would lose the sums of missing agents, and for the
/// probability.
[[nodiscard]] Eigen::MatrixXd dropout_utility(const MixingMatrix& mixing,
                                              const Utility& utility,
                                              long rounds,
                                              double probability);

/// Remaining noise Tr(M R) of a plan if present agents publish the streams they share with missing
/// agents, and all subtract them: a stream counts only if every holder of its seed is present
/// (docs/equations.md#rounds-that-agents-miss). dropout_precision has the privacy cost. Pure. Cost:
/// as dropout_utility, and O(n^2) a stream.
///
/// @param plan of noise that is the same to every receiver and independent between rounds.
/// @return in units of scale^2.
/// @throws ConfigError as dropout_utility.
[[nodiscard]] double recovered_noise(const NoisePlan& plan,
                                     const MixingMatrix& mixing,
                                     const Utility& utility,
                                     long rounds,
                                     double probability);

}  // namespace sotto
