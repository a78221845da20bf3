#pragma once

#include <vector>

#include "graph/topography.hpp"
#include "net/control.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// Every agent checks that the plan protects it as configured, also from every coalition of
/// `coalition_size` others, and all processes compare digests of graph, mixing and plan. A plan
/// without noise is accepted only if the agent's own budget has mu = 0, meaning that its user wants
/// none. COLLECTIVE.
/// @param exposures, budgets one per agent of the network; exposures include the effect of the
/// plan's temporal factor.
/// @throws PrivacyError, NetworkError, the same on every process; ConfigError for a plan of another
/// number of agents.
void verify_agreement(Control& network,
                      const Topography& topography,
                      const NoisePlan& plan,
                      const std::vector<Exposure>& exposures,
                      const std::vector<PrivacyBudget>& budgets,
                      int coalition_size = 0);

/// Compares what this process built with process 0's: graphs must be equal, and weights within
/// 1e-12 of the largest. LOCAL.
/// @throws NetworkError naming the process and the quantity that differs.
void require_same(int process, const Topography& own, const Topography& shared);

/// The same for plans: streams, groups and rows must be equal; scale, coefficients and temporal
/// factor within 1e-12 of the largest, since machines round differently.
void require_same(int process, const NoisePlan& own, const NoisePlan& shared);

}  // namespace sotto
