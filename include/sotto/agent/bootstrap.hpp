#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sotto/graph/topography.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/trust/handshake.hpp"
#include "sotto/trust/key_ring.hpp"

namespace sotto {

/// Process 0's graph and mixing matrix, on every process. COLLECTIVE.
/// @param own needed on process 0. Another process may give what it built itself, which is then
/// compared: the graphs must be equal, and the weights within 1e-12. All use process 0's numbers.
/// @throws NetworkError, the same on every process, naming rank and quantity that differ, or if
/// process 0 sent something else than a graph of the network's agents with a mixing matrix.
[[nodiscard]] Topography share_topography(Network& network, const std::optional<Topography>& own);

/// Process 0's plan, on every process. COLLECTIVE.
/// @param own as above; two plans agree if they have the same streams and rows, and their scale
/// and coefficients differ by at most 1e-12 of the largest. All use process 0's numbers, because
/// shared noise cancels only where its coefficients have the same bits.
[[nodiscard]] NoisePlan share_plan(Network& network, const std::optional<NoisePlan>& own);

/// Every agent checks for itself that the plan protects it as configured, from every coalition of
/// `coalition_size` others too (a plan without noise is
/// accepted only where the agent's own budget, with mu = 0, says that its user wants none), and all
/// processes compare digests of graph, mixing and plan. A plan with a temporal factor is refused:
/// the trainer draws independent rounds. COLLECTIVE. @throws PrivacyError, NetworkError, the same
/// on every process.
void verify_agreement(Network& network,
                      const Topography& topography,
                      const NoisePlan& plan,
                      const std::vector<Exposure>& exposures,
                      const std::vector<PrivacyBudget>& budgets,
                      int coalition_size = 0);

/// The handshake of all agents (handshake.hpp): afterwards every pair of them has a secret, and
/// with credentials every agent has proved who it is. COLLECTIVE.
/// @param credentials on all processes or on none.
/// @throws CryptoError, NetworkError, the same on every process, naming agent and identity.
[[nodiscard]] Session open_session(Network& network,
                                   const Topography& topography,
                                   const NoisePlan& plan,
                                   const Credentials* credentials);

/// One key ring per local agent with exactly the seeds the plan entitles it to, made by whom
/// SeedMaker says. No seed crosses the network in clear, and no process but those of a group's
/// members sees its seed. COLLECTIVE.
///
/// Cost: one X25519 (40 us) a pair of agents that share a group of two, on `threads` threads; one
/// sealed message from the lowest member of a larger group to each other member; for groups of all
/// agents one sealed message from every agent to agent 0 and back. Agents of one process need none.
/// @throws CryptoError, NetworkError, the same on every process.
[[nodiscard]] std::vector<KeyRing> distribute_seeds(Network& network,
                                                    const NoisePlan& plan,
                                                    Session& session,
                                                    int threads = 1);

/// Reproducible (INSECURE) key rings: see reproducible_rings. LOCAL.
[[nodiscard]] std::vector<KeyRing> distribute_seeds(const Network& network,
                                                    const NoisePlan& plan,
                                                    std::uint64_t noise_seed);

}  // namespace sotto
