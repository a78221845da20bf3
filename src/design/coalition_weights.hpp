#pragma once

#include <Eigen/Dense>

#include "design/coalition_point.hpp"
#include "design/coalition_solver.hpp"

namespace sotto {

/// solve_coalition_covariance for many unknowns (docs/equations.md#coalitions): prices lambda_Iu of
/// the constraints grow with their violation, and noise grows where it earns most at these prices,
///
///     lambda_Iu <- lambda_Iu ([(R^(I))^-1]_uu / kappa_u)^3,   S_k <- C_k^-1 # (S_k G_k S_k),
///
/// with # the geometric mean of matrices. By Thomson's principle [(R^(I))^-1]_uu is the least
/// energy sum_k i_k^T S_k^-1 i_k of currents i from u to ground, and the present currents bound it
/// for another S: at fixed prices a step never increases sum lambda [(R^(I))^-1]_uu + Tr(C S).
/// Every iterate gives a feasible plan and a certificate. Cost: n^3 + sum over coalitions of n
/// |S_I|^2 + (number of priced constraints) (n + groups) an iteration; 100 to 300 of them for a gap
/// of 1%. Memory n^2.
/// @param utility M, with a mean diagonal of 1.
/// @param kappa n, > 0.
/// @throws ConfigError if no noise within the cap protects every agent, and if a pass over all
/// coalitions takes minutes.
[[nodiscard]] LayoutSolution solve_by_weights(const GroupLayout& layout,
                                              const Eigen::MatrixXd& utility,
                                              const Eigen::VectorXd& kappa,
                                              const CoalitionOptions& options);

}  // namespace sotto
