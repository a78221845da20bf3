#pragma once

#include <Eigen/Dense>
#include <vector>

#include "design/coalition_point.hpp"

namespace sotto {

/// The linear system of a primal-dual Newton step at a point.
struct NewtonSystem {
    Eigen::VectorXd gradient;    ///< of cost.phi - target * sum log slack
    Eigen::MatrixXd hessian;     ///< lower triangle, positive definite
    Eigen::MatrixXd cap_slopes;  ///< of R_uu: agents x unknowns
    /// Of the slacks, a part of the coalitions each: (agents of its coalitions) x unknowns.
    std::vector<Eigen::MatrixXd> slack_slopes;
};

/// The slack 1/f - 1/kappa_u, f = [Y]_uu, Y = (R^(I))^-1, has the slope (b^T Y e_u)^2 / f^2 along
/// b; the Hessian gets 2 (b^T Q c)(b^T Y c) with Q = Y diag(price / f^2) Y. In this form the
/// constraint is concave and homogeneous of degree 1, nearly linear. Free blocks have a log-det
/// barrier. docs/equations.md 5. Cost: with N unknowns and m constraints O(m N^2).
[[nodiscard]] NewtonSystem newton_system(const CoalitionProblem& problem,
                                         const CoalitionPoint& point,
                                         double target);

/// How the slacks change to first order, agents x coalitions; 0 for members.
[[nodiscard]] Eigen::MatrixXd slack_change(const CoalitionProblem& problem,
                                           const NewtonSystem& system,
                                           const Eigen::VectorXd& direction);

}  // namespace sotto
