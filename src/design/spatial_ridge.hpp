#pragma once

#include <Eigen/Dense>

#include "sotto/design/spatial_solver.hpp"

namespace sotto {

/// Largest R_uu kappa_u, to be compared with the cap.
[[nodiscard]] double relative_variance(const Eigen::MatrixXd& covariance,
                                       const Eigen::VectorXd& kappa);

/// solve_spatial_covariance where M is singular, or nearly, or the cap binds: follows the optimum
/// of M + ridge I as the ridge falls, until the gap is met, the cap is reached or rounding ends the
/// progress (status then as it is without either).
/// @param utility  with trace n.  @param lower_bound known so far.
[[nodiscard]] SpatialSolution solve_along_ridge(const Eigen::MatrixXd& utility,
                                                const Eigen::VectorXd& kappa,
                                                const SpatialOptions& options,
                                                double lower_bound);

}  // namespace sotto
