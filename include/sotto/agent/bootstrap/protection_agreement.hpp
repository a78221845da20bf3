#pragma once

#include <vector>

#include "sotto/graph/topography.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// Every agent checks for itself that the plan protects it as configured, from every coalition of
/// `coalition_size` others too (a plan without noise is accepted only where the agent's own budget,
/// with mu = 0, says that its user wants none), and all processes compare digests of graph, mixing
/// and plan. COLLECTIVE.
/// @param exposures, budgets one per agent of the network; an exposure counts what the plan's
/// temporal factor makes of its rounds.
/// @throws PrivacyError, NetworkError, the same on every process; ConfigError for a plan of another
/// number of agents.
void verify_agreement(Network& network,
                      const Topography& topography,
                      const NoisePlan& plan,
                      const std::vector<Exposure>& exposures,
                      const std::vector<PrivacyBudget>& budgets,
                      int coalition_size = 0);

}  // namespace sotto
