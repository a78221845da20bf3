#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sotto/graph/mixing.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/trust/key_ring.hpp"

namespace sotto {

/// Who may talk to whom, and how models are mixed: public, the same on every process.
struct Topography {
    Graph graph;
    MixingMatrix mixing;
};

/// Process 0's graph and mixing matrix, on every process. COLLECTIVE.
/// @param own read on process 0 only (others may pass nothing).
[[nodiscard]] Topography share_topography(Network& network, const std::optional<Topography>& own);

/// Process 0's plan, on every process. COLLECTIVE. @param own as above.
[[nodiscard]] NoisePlan share_plan(Network& network, const std::optional<NoisePlan>& own);

/// Every agent checks for itself that the plan protects it as configured (a plan without noise is
/// accepted only where the agent's own budget, with mu = 0, says that its user wants none), and all
/// processes compare digests of graph, mixing and plan. COLLECTIVE. @throws PrivacyError,
/// NetworkError, the same on every process.
void verify_agreement(Network& network,
                      const Topography& topography,
                      const NoisePlan& plan,
                      const std::vector<Exposure>& exposures,
                      const std::vector<PrivacyBudget>& budgets);

/// One key ring per local agent with exactly the seeds the plan entitles it to. Private seeds are
/// drawn by their owner; seeds of several agents are drawn by process 0 and sealed to each member's
/// one-time X25519 key, so that none crosses the network in clear. COLLECTIVE.
/// @param noise_seed reproducible (insecure) keys; must be the same on every process.
[[nodiscard]] std::vector<KeyRing> distribute_seeds(Network& network,
                                                    const NoisePlan& plan,
                                                    std::optional<std::uint64_t> noise_seed);

}  // namespace sotto
