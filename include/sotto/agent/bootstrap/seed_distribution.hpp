#pragma once

#include <cstdint>
#include <vector>

#include "sotto/net/network.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/trust/handshake.hpp"
#include "sotto/trust/key_ring.hpp"

namespace sotto {

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
