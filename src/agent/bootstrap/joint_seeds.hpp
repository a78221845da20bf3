#pragma once

// Seeds of groups of everybody, to which every agent gives a share; not installed.

#include <span>
#include <vector>

#include "local_seeds.hpp"
#include "sotto/net/network.hpp"
#include "sotto/trust/handshake.hpp"

namespace sotto {

/// Seeds of these groups for the agents of this process. Every share goes to agent 0, sealed, and
/// all shares come back, sealed, to one agent of every process. Everybody checks all shares against
/// what was committed to in the handshake. COLLECTIVE.
/// @throws CryptoError, NetworkError, the same on every process.
[[nodiscard]] std::vector<LocalSeed> draw_joint_seeds(Network& network,
                                                      Session& session,
                                                      std::span<const int> groups);

}  // namespace sotto
