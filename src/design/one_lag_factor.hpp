#pragma once

#include <Eigen/Dense>

#include "sotto/design/shaped_factor.hpp"

namespace sotto {

/// C_time^-1 = I - rho S, S the subdiagonal (without the entries that join blocks of `restart`
/// rounds), with the rho in [0, 1] that leaves the least noise at its own sensitivity:
///
///     minimise (sum_t H_tt V_tt + 2 sum_t H_t,t-1 V_t,t-1) sens2(C_time) / ceil(T / cycle),
///
/// V = X_time^-1, tridiagonal. Not convex: no lower bound.
/// @param diagonal H_tt.  @param subdiagonal H_t,t-1 at t (its first entry is not used).
/// @param restart see TemporalShape.
/// Pure. Cost: O(T) an evaluation, about 100 evaluations.
[[nodiscard]] ShapedFactor solve_one_lag_factor(const Eigen::VectorXd& diagonal,
                                                const Eigen::VectorXd& subdiagonal,
                                                long cycle,
                                                long restart);

}  // namespace sotto
