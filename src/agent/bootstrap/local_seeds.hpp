#pragma once

// Seeds on their way into the key rings of one process; not installed.

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>

#include "sotto/core/error.hpp"
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

/// Runs a step that takes what a process sent. @throws CryptoError naming the process for what the
/// step refuses, whomever that is about: who sends something may say that it is from another.
template <class Step>
void take_from(std::size_t process, Step&& step) {
    try {
        step();
    } catch (const Error& error) {
        throw CryptoError(fmt::format("what rank {} sent of seeds: {}", process, error.what()));
    }
}

}  // namespace sotto
