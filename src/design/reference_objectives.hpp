#pragma once

#include "sotto/design/design.hpp"

namespace sotto {

// What a budget costs at the two ends between which mechanisms lie. Units as in Design.

/// sum_u M_uu / kappa_u: every agent alone hides its gradient.
/// @throws ConfigError if a kappa is not finite and positive. Cost: of M.
[[nodiscard]] double independent_objective(const DesignInput& input);

/// M_00 where mixing is exact averaging: a trusted aggregator adds noise to the mean alone.
/// Cost: O(n^3).
[[nodiscard]] double trusted_mean_objective(const DesignInput& input);

}  // namespace sotto
