#pragma once

#include "sotto/design/design.hpp"

namespace sotto {

// Objectives of a budget at the two extremes between which mechanisms lie, in units of Design.

/// sum_u M_uu / kappa_u: independent noise of every agent. Cost: of M.
/// @throws ConfigError if a kappa is not finite and positive.
[[nodiscard]] double independent_objective(const DesignInput& input);

/// M_00 with exact averaging: a trusted aggregator adds noise to the mean alone. Cost: O(n^3).
[[nodiscard]] double trusted_mean_objective(const DesignInput& input);

}  // namespace sotto
