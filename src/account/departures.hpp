#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "graph/topography.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

/// A mixing matrix of remaining agents as one of all agents: those that left keep their model.
[[nodiscard]] MixingMatrix mixing_of_all(const Graph& graph,
                                         const MixingMatrix& mixing,
                                         const Membership& members);

/// Phases of a run in which agents leave ("ROUND:a,b;ROUND:c": before round ROUND, from 0). The
/// mixing rule is applied to the remaining agents; an agent that left keeps weight 1 on itself.
/// @throws ConfigError for rounds that do not ascend inside the run, agents that do not exist or
/// left before, or mixing that is not a rule.
[[nodiscard]] std::vector<Phase> phases_of(const Topography& topography,
                                           const GraphConfig& config,
                                           const PlanConfig& plan,
                                           const std::string& departures);

}  // namespace sotto
