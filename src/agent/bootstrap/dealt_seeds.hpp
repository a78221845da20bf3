#pragma once

// Seeds that the lowest member of a group deals to the others; not installed.

#include <span>
#include <vector>

#include "local_seeds.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/trust/handshake.hpp"

namespace sotto {

/// Seeds of these groups for the agents of this process: drawn by the lowest member, sealed for
/// every member of another process. COLLECTIVE.
/// @throws CryptoError, NetworkError, the same on every process, for anything but exactly the seeds
/// that the plan lets one agent give to another.
[[nodiscard]] std::vector<LocalSeed> deal_seeds(Network& network,
                                                const NoisePlan& plan,
                                                Session& session,
                                                std::span<const int> groups);

}  // namespace sotto
