#pragma once

// Seeds on their way into the key rings of one process; not installed.

#include <cstddef>
#include <optional>
#include <span>

#include "sotto/trust/secret.hpp"

namespace sotto {

/// A seed of an agent of this process.
struct LocalSeed {
    std::size_t place;  ///< of the agent among those of the process
    int group;
    SecretKey seed;
};

/// Where an agent is among those of a process (ascending); nothing for agents of other processes.
[[nodiscard]] std::optional<std::size_t> place_of(std::span<const int> local_agents, int agent);

}  // namespace sotto
