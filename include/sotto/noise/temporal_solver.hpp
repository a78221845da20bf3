#pragma once

#include <Eigen/Dense>
#include <span>

#include "sotto/graph/mixing.hpp"
#include "sotto/noise/temporal_shape.hpp"
#include "sotto/plan/lagged_noise.hpp"
#include "sotto/plan/noise_plan.hpp"

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

/// The same for a temporal factor; of few lags and symmetric W without a matrix of T rows. Cost
/// then: O(n^3 + T (B^2 + n B)) for B lags; else as above.
/// @throws ConfigError for other factors, or other W, above most_dense_rounds rounds.
[[nodiscard]] Eigen::MatrixXd spatial_utility(const MixingMatrix& mixing,
                                              const TemporalFactor& factor,
                                              std::span<const double> step_sizes,
                                              int gossip_steps = 1);

/// The largest number of rounds of what needs matrices with a row for every round.
inline constexpr long most_dense_rounds = 2000;

/// sum over rounds tau of Var y(tau), y(tau) = lambda (y(tau - 1) + eta_tau v(tau)), y(-1) = 0:
/// what noise of the rounds leaves in a mode of W of eigenvalue lambda, for every mode.
/// @param values lambda of every mode. Cost: O(T (B^2 + modes B)).
[[nodiscard]] Eigen::VectorXd mode_gains(const LaggedNoise& noise,
                                         const Eigen::VectorXd& values,
                                         std::span<const double> step_sizes);

struct TemporalOptions {
    double relative_gap = 1e-6;  ///< stop when (value - lower_bound) <= relative_gap * value
    int max_iterations = 3000;   ///< Cholesky factorisations, about
    long band = 0;               ///< B: X_st = 0 for |s - t| > B; 0: no limit
    long restart = 0;            ///< X_st = 0 between blocks of so many rounds; 0: one block
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
/// and with options.band: X_st = 0 outside the band, which C_time then is too.
///
/// L-BFGS on the free entries, gradient -X^-1 H X^-1. For any Y > 0 that is zero
/// on the free entries (Tr (L^T Y L)^1/2)^2 / Tr Y, H = L L^T, is a lower bound; Y = the
/// others of X^-1 H X^-1 (with more on the diagonal, should it not be positive) makes it tight at
/// the optimum. With cycle 1 only X = I is allowed.
/// @param utility H, T x T, symmetric, positive definite.  @param cycle b >= 1.
/// Pure. Cost: O(T^3) an iteration, a few hundred iterations.
/// @throws ConfigError if H is not positive definite or cycle < 1.
[[nodiscard]] TemporalSolution solve_temporal_gram(const Eigen::MatrixXd& utility,
                                                   long cycle,
                                                   const TemporalOptions& options = {});

struct LaggedSolution {
    TemporalFactor factor;
    double value = 0;  ///< what is minimised
    int iterations = 0;
};

/// C_time with B subdiagonals that leaves little noise over many rounds, unit columns in C_time and
/// with B < cycle, so that sens2 = ceil(T / cycle). Minimises sum_i w_i gain_i (mode_gains) over
/// the band by L-BFGS with the derivative of the recursion, from a band of the best factor of one
/// lag. No matrix with T columns is formed, and X_time need not be: not convex, hence no lower
/// bound.
/// @param values, weights  lambda_i and w_i of the modes.  @param restart see TemporalShape.
/// Pure. Cost: O(T (B^2 + modes B)) time an iteration and T B (modes + 1) numbers of memory.
/// @throws ConfigError if band < 1 or band >= cycle.
[[nodiscard]] LaggedSolution solve_banded_factor(const Eigen::VectorXd& values,
                                                 const Eigen::VectorXd& weights,
                                                 std::span<const double> step_sizes,
                                                 long cycle,
                                                 long band,
                                                 long restart = 0,
                                                 int max_iterations = 400);

/// C_time^-1 = I - rho S, S the subdiagonal (without the entries that join blocks of `restart`
/// rounds), with the rho in [0, 1] that leaves the least noise at its own sensitivity:
///
///     minimise (sum_t H_tt V_tt + 2 sum_t H_t,t-1 V_t,t-1) sens2(C_time) / ceil(T / cycle),
///
/// V = X_time^-1, tridiagonal.
/// @param diagonal H_tt.  @param subdiagonal H_t,t-1 at t (its first entry is not used).
/// Pure. Cost: O(T) an evaluation, about 100 evaluations.
[[nodiscard]] LaggedSolution solve_one_lag_factor(const Eigen::VectorXd& diagonal,
                                                  const Eigen::VectorXd& subdiagonal,
                                                  long cycle,
                                                  long restart = 0);

/// A temporal factor of the shape asked for.
struct ShapedFactor {
    TemporalFactor factor;
    double value = 0;        ///< Tr(H X_time^-1) sens2(C_time) / ceil(T / cycle)
    double lower_bound = 0;  ///< over all factors of the shape; NaN where none is known
};
/// The factor that leaves the least noise given the covariance across agents: the solver for its
/// shape, and for the number of rounds. Blocks of rounds that begin anew are problems of their own.
/// @throws ConfigError for more than most_dense_rounds rounds (in a block, if it begins anew),
/// unless it is one-lag, or banded with band < cycle; and altogether where W is not symmetric.
[[nodiscard]] ShapedFactor solve_shaped_factor(const MixingMatrix& mixing,
                                               const Eigen::MatrixXd& spatial_covariance,
                                               std::span<const double> step_sizes,
                                               int gossip_steps,
                                               long cycle,
                                               const TemporalShape& shape);

/// C_time, lower triangular with positive diagonal, C_time^T C_time = gram: J chol(J gram J)^T J,
/// J the reversal. @throws ConfigError if gram is not positive definite.
[[nodiscard]] Eigen::MatrixXd temporal_factor_of(const Eigen::MatrixXd& gram);

}  // namespace sotto
