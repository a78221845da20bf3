#pragma once

#include <Eigen/Dense>

namespace sotto {

/// DECOR's restriction R = s2 I + c L, L the graph Laplacian.
struct LaplacianSolution {
    double private_variance = 0;  ///< s2
    double edge_variance = 0;     ///< c
    double value = 0;             ///< Tr(M R)
    double lower_bound = 0;       ///< certified over all (s2, c), by linearising the constraints
    bool capped = false;          ///< the variance cap binds
};

/// Solves  min_{s2, c >= 0} Tr(M (s2 I + c L))  s.t.  [R^-1]_uu <= kappa_u, R_uu <= cap / kappa_u,
/// which is unimodal in c/s2. With coalitions of q agents the constraint holds for R^(I) = s2 I + c
/// L of the graph without I, for every |I| = q: the coalition knows its edges' noise. Cost: one
/// eigendecomposition and O(n^2) an evaluation, for every coalition.
/// @param laplacian n x n.
/// @param coalition_size q, 0 <= q < n.
/// @throws ConfigError as solve_spatial_covariance, and for more than a million coalitions.
[[nodiscard]] LaplacianSolution solve_laplacian_covariance(const Eigen::MatrixXd& utility,
                                                           const Eigen::MatrixXd& laplacian,
                                                           const Eigen::VectorXd& kappa,
                                                           double variance_cap = 1e4,
                                                           int coalition_size = 0);

}  // namespace sotto
