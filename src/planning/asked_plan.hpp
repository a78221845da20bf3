#pragma once

#include "config/config.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Checks that a plan, possibly from another process, is what this process's options ask for: its
/// mechanism, who combines messages, where its noise is added and how it is distributed, whether
/// rounds are correlated, and that no seed is held by others than the mechanism shares it with.
/// With --plan it must be the plan in this process's own file; a resumed run may increase its
/// noise. It does not check the protection, which verify_agents_protected computes. LOCAL. Cost
/// O(size of the plan).
/// @throws PrivacyError naming what is asked and what the plan has; DataError if the own file
/// cannot be read.
void require_asked_plan(const NoisePlan& plan, const PlanConfig& config, const Graph& graph);

}  // namespace sotto
