#pragma once

#include <Eigen/Dense>
#include <span>

#include "design/shaped_factor.hpp"

namespace sotto {

struct TemporalOptions {
    double relative_gap = 1e-6;  ///< stop when (value - lower_bound) <= relative_gap * value
    int max_iterations = 3000;   ///< Cholesky factorisations, about
    long band = 0;               ///< B: X_st = 0 for |s - t| > B; 0: no limit
};

struct TemporalSolution {
    Eigen::MatrixXd gram;    ///< X_time, T x T, positive definite
    double value = 0;        ///< Tr(H X_time^-1)
    double lower_bound = 0;  ///< certified for every X_time that meets the constraints
    [[nodiscard]] double relative_gap() const {
        return value > 0 ? (value - lower_bound) / value : 0;
    }
};

/// Optimal correlation across rounds with sens2 = ceil(T / cycle) participations.
///
/// Solves  min_X Tr(H X^-1)  s.t.  X_tt = 1,  X_st = 0 for s != t with s = t mod cycle.
/// Source: [U] section 5 (MAFALDA-SGD), docs/equations.md#noise-that-is-correlated-over-rounds;
/// with options.band also X_st = 0 outside the band, so that C_time has the same band.
///
/// L-BFGS on the free entries, gradient -X^-1 H X^-1. The lower bound uses the fixed entries of
/// X^-1 H X^-1, with a larger diagonal if they are not positive. With cycle 1 only X = I is
/// allowed. Pure. Cost: O(T^3) an iteration, a few hundred iterations.
/// @param utility H, T x T, symmetric, positive definite.
/// @param cycle b >= 1.
/// @throws ConfigError if H is not positive definite or cycle < 1.
[[nodiscard]] TemporalSolution solve_temporal_gram(const Eigen::MatrixXd& utility,
                                                   long cycle,
                                                   const TemporalOptions& options = {});

/// C_time, lower triangular with positive diagonal, C_time^T C_time = gram: J chol(J gram J)^T J, J
/// the reversal.
/// @throws ConfigError if gram is not positive definite.
[[nodiscard]] Eigen::MatrixXd temporal_factor_of(const Eigen::MatrixXd& gram);

/// C_time with B subdiagonals for many rounds, with unit columns and B < cycle, so that sens2 =
/// ceil(T / cycle). Minimises sum_i w_i gain_i (mode_gains) over the band by L-BFGS with the
/// derivative of the recursion, from the best of a few bands of powers of one number. Forms no
/// matrix with T columns. Not convex, hence no lower bound. Pure. Cost: O(T (B^2 + modes B)) time
/// an iteration and T B (modes + 1) numbers of memory.
/// @param values, weights lambda_i and w_i of the modes.
/// @param restart see TemporalShape.
/// @throws ConfigError if band < 1 or band >= cycle.
[[nodiscard]] ShapedFactor solve_banded_factor(const Eigen::VectorXd& values,
                                               const Eigen::VectorXd& weights,
                                               std::span<const double> step_sizes,
                                               long cycle,
                                               long band,
                                               long restart = 0);

/// C_time^-1 = I - rho S, S the subdiagonal (without the entries that join blocks of `restart`
/// rounds), with the rho in [0, 1] that minimises the noise at its own sensitivity:
///
///     minimise (sum_t H_tt V_tt + 2 sum_t H_t,t-1 V_t,t-1) sens2(C_time) / ceil(T / cycle),
///
/// V = X_time^-1, tridiagonal. Not convex: no lower bound. Pure. Cost: O(T) an evaluation, about
/// 100 evaluations.
/// @param diagonal H_tt.
/// @param subdiagonal H_t,t-1 at t (its first entry is not used).
/// @param restart see TemporalShape.
[[nodiscard]] ShapedFactor solve_one_lag_factor(const Eigen::VectorXd& diagonal,
                                                const Eigen::VectorXd& subdiagonal,
                                                long cycle,
                                                long restart);

}  // namespace sotto
