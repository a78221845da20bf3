#pragma once

// Seeds of groups of two, which follow from pair secrets; not installed.

#include <span>
#include <vector>

#include "local_seeds.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/trust/handshake.hpp"

namespace sotto {

/// Seeds of these groups of two for the agents of this process. Nothing is sent. LOCAL.
/// Cost: one X25519 a pair with an agent here, on `threads` threads.
[[nodiscard]] std::vector<LocalSeed> derive_pair_seeds(const NoisePlan& plan,
                                                       Session& session,
                                                       std::span<const int> local_agents,
                                                       std::span<const int> groups,
                                                       int threads);

}  // namespace sotto
