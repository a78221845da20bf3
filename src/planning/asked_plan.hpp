#pragma once

#include "config/config.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Whether a plan, which may be another process's, is what this process's own options ask for: its
/// mechanism, who combines messages, where its noise enters and how it is distributed, whether
/// rounds are correlated, and that no seed is held by others than the mechanism shares it with.
/// With
/// --plan it is the plan of this process's own file; a run that is resumed may make it louder.
/// What the plan then protects against, verify_agents_protected computes. LOCAL. Cost O(size of the
/// plan).
/// @throws PrivacyError naming what is asked, and what the plan has; DataError for an own file that
/// cannot be read.
void require_asked_plan(const NoisePlan& plan, const PlanConfig& config, const Graph& graph);

}  // namespace sotto
