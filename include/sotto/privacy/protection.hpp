#pragma once

#include <span>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/exposure.hpp"

namespace sotto {

/// Checks that the plan keeps agents within their budgets against the eavesdropper, and against
/// every coalition of `coalition_size` other agents that also sees all messages, by recomputing
/// R^-1 from the plan's own coefficients; and that the grid of the noise is at most 2^-20 of their
/// conditional standard deviation. Every process calls it for its own agents before the first
/// round.
/// @param agents to check.  @param exposures, budgets one per agent of the network.
/// @throws PrivacyError with agent, mu and limit if it does not (1e-9 relative is forgiven).
void verify_agents_protected(const NoisePlan& plan,
                             std::span<const int> agents,
                             std::span<const Exposure> exposures,
                             std::span<const PrivacyBudget> budgets,
                             int coalition_size = 0);

}  // namespace sotto
