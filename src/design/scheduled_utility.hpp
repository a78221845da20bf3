#pragma once

#include <Eigen/Dense>
#include <span>

#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

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

}  // namespace sotto
