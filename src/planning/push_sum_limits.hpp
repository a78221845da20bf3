#pragma once

#include "sotto/graph/topography.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// @throws ConfigError naming what push-sum mixing cannot be combined with: regularisation, which
/// shrinks models by other factors at agents of other weights, and noise on messages.
void require_possible_push_sum(const Topography& topography, const NoisePlan& plan, double l2);

}  // namespace sotto
