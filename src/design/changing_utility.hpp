#pragma once

#include <Eigen/Dense>
#include <span>

#include "sotto/design/design.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

// Utilities where mixing changes between rounds: by a schedule, or since agents miss rounds.

/// temporal_utility for mixing that changes between rounds, so that noise of round t has been
/// multiplied by W_tau ... W_t after round tau (every W_t K times; with push-sum divided by w at
/// that time):
///
///     H_st = eta_s eta_t Tr(Q_t W_(t-1) ... W_s R), s <= t,  Q_t = W_t^T (D_t^-2 + Q_(t+1)) W_t.
///
/// Source: [U] eq. 9 with the products of A.7. Cost: O(T^2 (K nnz(W) n + n^2)), n^2 T numbers of
/// memory.
/// @param gossip_steps K.
/// @throws ConfigError above most_dense_rounds rounds, or 10^8 numbers.
[[nodiscard]] Eigen::MatrixXd temporal_utility(const MixingSchedule& schedule,
                                               const Eigen::MatrixXd& spatial_covariance,
                                               std::span<const double> step_sizes,
                                               int gossip_steps = 1);

/// spatial_utility for changing mixing: M, n x n, with Tr(M R) = Tr(H X_time^-1). Cost and errors
/// as above.
[[nodiscard]] Eigen::MatrixXd spatial_utility(const MixingSchedule& schedule,
                                              const TemporalFactor& factor,
                                              std::span<const double> step_sizes,
                                              int gossip_steps = 1);

/// joint_utility for changing mixing: H_st = eta_s eta_t (W_(t-1) ... W_s)^T Q_t, s <= t. Cost:
/// O(T^2 K nnz(W) n + T^2 n^3).
/// @throws ConfigError as joint_utility, and as above.
[[nodiscard]] Eigen::MatrixXd joint_utility(const MixingSchedule& schedule,
                                            std::span<const double> step_sizes,
                                            int gossip_steps = 1);

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
