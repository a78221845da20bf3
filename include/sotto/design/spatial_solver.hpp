#pragma once

#include <Eigen/Dense>

namespace sotto {

struct SpatialOptions {
    double relative_gap = 1e-9;  ///< stop when (value - lower_bound) <= relative_gap * value
    double variance_cap = 1e4;   ///< R_uu <= variance_cap / kappa_u; > 1
    int max_iterations = 100;    ///< eigendecompositions of one dual maximisation
};

enum class SpatialStatus {
    optimal,        ///< the gap was met
    capped,         ///< the cap binds: value is the best found under the cap (see ridge)
    rounding_limit  ///< feasible and certified, but the gap is larger than asked for: M is singular
};

struct SpatialSolution {
    SpatialStatus status = SpatialStatus::rounding_limit;
    Eigen::MatrixXd covariance;  ///< R, n x n, positive definite; [R^-1]_uu = kappa_u for all u
    double value = 0;            ///< Tr(M R)
    double lower_bound = 0;      ///< certified: no feasible R, capped or not, has a smaller value
    double ridge = 0;  ///< R minimises Tr((M + ridge I) R); 0 unless M is singular or the cap binds
    int iterations = 0;  ///< eigendecompositions
    [[nodiscard]] double relative_gap() const {
        return value > 0 ? (value - lower_bound) / value : 0;
    }
};

/// Covariance across agents that leaves the least noise after mixing, within every agent's budget.
///
/// Solves  min_R Tr(M R)  s.t.  [R^-1]_uu <= kappa_u.        Source: [W] eq. 10, docs/equations.md
/// 4
///
/// Newton's method on the dual  max_lambda 2 Tr S - sum_u kappa_u lambda_u  with
/// S = (Lambda^1/2 M Lambda^1/2)^1/2, whose stationary point gives X = R^-1 =
/// Lambda^-1/2 S Lambda^-1/2. For any lambda > 0, (Tr S)^2 / sum kappa_u lambda_u is a lower bound
/// and X, rescaled so that its diagonal is kappa, is feasible. Where M is singular (or nearly), R
/// may diverge: a ridge is added to M, the smallest that keeps R_uu <= variance_cap / kappa_u (and
/// keeps S above rounding); the lower bound remains that of ridge 0.
///
/// @param utility  M, n x n, symmetric, positive semidefinite, not 0.
/// @param kappa    n, > 0, [1 / gradient-unit^2].
/// @return read `status` first. Pure. Cost: O(n^3) an iteration, about 10 iterations without a cap.
/// @throws ConfigError if a kappa is not finite and positive (agent and value in the message), or
///         variance_cap <= 1.
[[nodiscard]] SpatialSolution solve_spatial_covariance(const Eigen::MatrixXd& utility,
                                                       const Eigen::VectorXd& kappa,
                                                       const SpatialOptions& options = {});

}  // namespace sotto
