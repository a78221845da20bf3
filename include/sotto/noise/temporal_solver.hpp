#pragma once

#include <Eigen/Dense>
#include <span>

#include "sotto/graph/mixing.hpp"

namespace sotto {

/// H, T x T: what the noise of rounds s and t leaves together in all models of all rounds, so that
/// the trajectory objective of C_time and R is Tr(H X_time^-1), X_time = C_time^T C_time:
///
///     H_st = eta_s eta_t sum_{tau >= max(s,t)} Tr((W^{K(tau-t+1)})^T W^{K(tau-s+1)} R).
///
/// Source: [U] eq. 9, docs/equations.md 6. No matrix with n T rows is formed.
/// @param spatial_covariance R, n x n.  @param step_sizes eta_t, one a round (its size is T).
/// @return symmetric, positive semidefinite. Cost: O(n^3 + n T + T^2) for symmetric W; else T
/// products W R^1/2, O(n^2 T^2) flops and n^2 T numbers of memory.
[[nodiscard]] Eigen::MatrixXd temporal_utility(const MixingMatrix& mixing,
                                               const Eigen::MatrixXd& spatial_covariance,
                                               std::span<const double> step_sizes,
                                               int gossip_steps = 1);

/// M, n x n, of the same objective for a given time correlation: it is Tr(M R) with
///
///     M = sum_{s,t} eta_s eta_t (X_time^-1)_st sum_{tau >= max(s,t)} (W^{K(tau-t+1)})^T
///     W^{K(tau-s+1)}.
///
/// @param inverse_gram X_time^-1, T x T. Cost: O(n^3 + n T^2) for symmetric W; else as above.
[[nodiscard]] Eigen::MatrixXd spatial_utility(const MixingMatrix& mixing,
                                              const Eigen::MatrixXd& inverse_gram,
                                              std::span<const double> step_sizes,
                                              int gossip_steps = 1);

struct TemporalOptions {
    double relative_gap = 1e-6;  ///< stop when (value - lower_bound) <= relative_gap * value
    int max_iterations = 3000;   ///< Cholesky factorisations, about
};

struct TemporalSolution {
    Eigen::MatrixXd gram;    ///< X_time, T x T, positive definite
    double value = 0;        ///< Tr(H X_time^-1)
    double lower_bound = 0;  ///< certified for every X_time that meets the constraints
    int iterations = 0;
    [[nodiscard]] double relative_gap() const {
        return value > 0 ? (value - lower_bound) / value : 0;
    }
};

/// Correlation across rounds that leaves the least noise at sens2 = ceil(T / cycle) participations.
///
/// Solves  min_X Tr(H X^-1)  s.t.  X_tt = 1,  X_st = 0 for s != t with s = t mod cycle.
/// Source: [U] section 5 (MAFALDA-SGD), docs/equations.md 6.
///
/// L-BFGS on the free entries, gradient -X^-1 H X^-1. For any block-diagonal Y > 0 (blocks: the
/// rounds of one pattern) (Tr (L^T Y L)^1/2)^2 / Tr Y, H = L L^T, is a lower bound; Y = the blocks
/// of X^-1 H X^-1 makes it tight at the optimum. With cycle 1 only X = I is allowed.
/// @param utility H, T x T, symmetric, positive definite.  @param cycle b >= 1.
/// Pure. Cost: O(T^3) an iteration, a few hundred iterations.
/// @throws ConfigError if H is not positive definite or cycle < 1.
[[nodiscard]] TemporalSolution solve_temporal_gram(const Eigen::MatrixXd& utility,
                                                   long cycle,
                                                   const TemporalOptions& options = {});

/// C_time, lower triangular with positive diagonal, C_time^T C_time = gram: J chol(J gram J)^T J,
/// J the reversal. @throws ConfigError if gram is not positive definite.
[[nodiscard]] Eigen::MatrixXd temporal_factor_of(const Eigen::MatrixXd& gram);

}  // namespace sotto
