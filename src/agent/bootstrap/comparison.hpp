#pragma once

// Whether processes that built a graph or a plan themselves built the same; not installed.

#include "sotto/graph/topography.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Checks what this process found against what process 0 did: graphs must be equal, and weights
/// within 1e-12 of the largest. LOCAL.
/// @throws NetworkError naming the process and the quantity that differs.
void require_same(int process, const Topography& own, const Topography& shared);

/// The same of plans: streams, groups and rows must be equal; scale, coefficients and temporal
/// factor within 1e-12 of the largest, since another machine rounds otherwise.
void require_same(int process, const NoisePlan& own, const NoisePlan& shared);

}  // namespace sotto
