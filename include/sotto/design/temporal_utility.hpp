#pragma once

#include <Eigen/Dense>
#include <span>

#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// H, T x T: what the noise of rounds s and t leaves together in all models of all rounds, so that
/// the trajectory objective of C_time and R is Tr(H X_time^-1), X_time = C_time^T C_time:
///
///     H_st = eta_s eta_t sum_{tau >= max(s,t)} Tr((P^{tau-t+1})^T P^{tau-s+1} R),
///
/// P = P_K(W) the mixing of one round; with push-sum every power of it is multiplied by D^-1
/// (estimate_factors).
///
/// Source: [U] eq. 9, docs/equations.md 6. No matrix with n T rows is formed.
/// @param spatial_covariance R, n x n.  @param step_sizes eta_t, one a round (its size is T).
/// @return symmetric, positive semidefinite. Cost: O(n^3 + n T + T^2) for symmetric W; else T
/// products W R^1/2, O(n^2 T^2) flops and n^2 T numbers of memory.
[[nodiscard]] Eigen::MatrixXd temporal_utility(const MixingMatrix& mixing,
                                               const Eigen::MatrixXd& spatial_covariance,
                                               std::span<const double> step_sizes,
                                               const GossipPolynomial& gossip = 1);

/// M, n x n, of the same objective for a given time correlation: it is Tr(M R) with
///
///     M = sum_{s,t} eta_s eta_t (X_time^-1)_st sum_{tau >= max(s,t)} (W^{K(tau-t+1)})^T
///     W^{K(tau-s+1)}.
///
/// @param inverse_gram X_time^-1, T x T. Cost: O(n^3 + n T^2) for symmetric W; else as above.
[[nodiscard]] Eigen::MatrixXd spatial_utility(const MixingMatrix& mixing,
                                              const Eigen::MatrixXd& inverse_gram,
                                              std::span<const double> step_sizes,
                                              const GossipPolynomial& gossip = 1);

/// The same for a temporal factor; of few lags and symmetric W without a matrix of T rows. Cost
/// then: O(n^3 + T (B^2 + n B)) for B lags; else as above.
/// @throws ConfigError for other factors, or other W, above most_dense_rounds rounds.
[[nodiscard]] Eigen::MatrixXd spatial_utility(const MixingMatrix& mixing,
                                              const TemporalFactor& factor,
                                              std::span<const double> step_sizes,
                                              const GossipPolynomial& gossip = 1);

/// H, n T x n T, of the same objective for any correlation of agents and rounds: with covariance
/// Sigma of all noise (row t n + u: agent u in round t) it is Tr(H Sigma), and
/// temporal_utility(R)_st = Tr(H_st R) of its blocks
///
///     H_st = eta_s eta_t sum_{tau >= max(s,t)} (P^{tau-s+1})^T P^{tau-t+1}.
///
/// Source: [U] eq. 5, 9; docs/equations.md 6. Cost: O(n^3 T^2) flops, n^2 T^2 numbers.
/// @throws ConfigError above most_joint_rows rows.
[[nodiscard]] Eigen::MatrixXd joint_utility(const MixingMatrix& mixing,
                                            std::span<const double> step_sizes,
                                            const GossipPolynomial& gossip = 1);

/// The largest number of rows n T of what is planned for all agents and rounds at once.
inline constexpr long most_joint_rows = 400;
/// @throws ConfigError if agents * rounds is larger than most_joint_rows.
void require_joint_rows(long agents, long rounds);

/// The largest number of rounds of what needs matrices with a row for every round.
inline constexpr long most_dense_rounds = 2000;

}  // namespace sotto
