#pragma once

#include <Eigen/Dense>
#include <optional>
#include <vector>

#include "design/coalition_problem.hpp"

namespace sotto {

/// Multipliers of the constraints of a CoalitionProblem.
struct CoalitionPrices {
    Eigen::MatrixXd limit;  ///< of 1/f >= 1/kappa_u, agents x coalitions; 0 for members
    Eigen::VectorXd cap;    ///< of R_uu <= cap
    Eigen::VectorXd zero;   ///< of phi >= 0, where the sign is fixed
};

/// A strictly feasible point with what follows from it, and multipliers.
struct CoalitionPoint {
    Eigen::VectorXd phi;
    std::vector<Eigen::MatrixXd> precision;  ///< (R^(I))^-1 of every coalition
    /// 1/f - 1/kappa_u, f = [(R^(I))^-1]_uu, agents x coalitions; 1 for members.
    Eigen::MatrixXd slack;
    Eigen::VectorXd room;  ///< cap - R_uu
    CoalitionPrices price;
};

/// The point of phi, without multipliers; nothing if phi is not strictly feasible.
/// Cost: O(n^3) a coalition.
[[nodiscard]] std::optional<CoalitionPoint> feasible_point(const CoalitionProblem& problem,
                                                           Eigen::VectorXd phi);

/// Multipliers at which every product with its slack is `target`.
[[nodiscard]] CoalitionPrices balanced_prices(const CoalitionProblem& problem,
                                              const CoalitionPoint& point,
                                              double target);

/// Mean product of slacks and multipliers.
[[nodiscard]] double complementarity(const CoalitionProblem& problem, const CoalitionPoint& point);

/// max over the coalitions so far of [(R^(I))^-1]_uu / kappa_u.
[[nodiscard]] double excess(const CoalitionProblem& problem, const CoalitionPoint& point);

}  // namespace sotto
