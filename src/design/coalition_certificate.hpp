#pragma once

#include "design/coalition_point.hpp"

namespace sotto {

/// A lower bound on cost.phi over all feasible phi, from the multipliers of a point: for prices
/// lambda of [(R^(I))^-1]_uu <= kappa_u and nu of the cap, P = sum lambda_Iu [(R^(I))^-1]_uu and
/// the smallest a^2 with -grad P <= a^2 (M + diag nu) on every block, it is
/// P^2 / (a^2 sum kappa lambda) - sum nu cap. docs/equations.md 5. Cost: O(n^3) a coalition.
[[nodiscard]] double certified_lower_bound(const CoalitionProblem& problem,
                                           const CoalitionPoint& point);

}  // namespace sotto
