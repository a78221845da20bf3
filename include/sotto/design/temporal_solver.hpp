#pragma once

#include <Eigen/Dense>

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

/// Correlation across rounds that leaves the least noise at sens2 = ceil(T / cycle) participations.
///
/// Solves  min_X Tr(H X^-1)  s.t.  X_tt = 1,  X_st = 0 for s != t with s = t mod cycle.
/// Source: [U] section 5 (MAFALDA-SGD), docs/equations.md 6; and with options.band X_st = 0 outside
/// the band, inside which C_time then is too.
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

/// C_time, lower triangular with positive diagonal, C_time^T C_time = gram: J chol(J gram J)^T J,
/// J the reversal. @throws ConfigError if gram is not positive definite.
[[nodiscard]] Eigen::MatrixXd temporal_factor_of(const Eigen::MatrixXd& gram);

}  // namespace sotto
