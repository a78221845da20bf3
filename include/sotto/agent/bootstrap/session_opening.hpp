#pragma once

#include <string_view>

#include "sotto/graph/topography.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/trust/handshake.hpp"

namespace sotto {

/// The handshake of all agents (handshake.hpp): afterwards every pair of them has a secret, and
/// with credentials every agent has proved who it is. COLLECTIVE.
/// @param credentials on all processes or on none.
/// @param agreed_options what all must have in common, as text; part of what everybody signs.
/// @throws CryptoError, NetworkError, the same on every process, naming agent and identity.
[[nodiscard]] Session open_session(Network& network,
                                   const Topography& topography,
                                   const NoisePlan& plan,
                                   const Credentials* credentials,
                                   std::string_view agreed_options = {});

}  // namespace sotto
