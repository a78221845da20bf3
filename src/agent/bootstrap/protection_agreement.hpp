#pragma once

#include <vector>

#include "graph/topography.hpp"
#include "net/network.hpp"
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

// Whether processes that built a graph or a plan themselves built the same.

/// Checks what this process found against what process 0 did: graphs must be equal, and weights
/// within 1e-12 of the largest. LOCAL.
/// @throws NetworkError naming the process and the quantity that differs.
void require_same(int process, const Topography& own, const Topography& shared);

/// The same of plans: streams, groups and rows must be equal; scale, coefficients and temporal
/// factor within 1e-12 of the largest, since another machine rounds otherwise.
void require_same(int process, const NoisePlan& own, const NoisePlan& shared);

}  // namespace sotto
