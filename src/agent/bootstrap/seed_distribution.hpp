#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/network.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "trust/handshake.hpp"
#include "trust/key_ring.hpp"
#include "trust/secret.hpp"

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

// Seeds on their way into the key rings of one process.

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

// Seeds that the lowest member of a group deals to the others.

/// Seeds of these groups for the agents of this process: drawn by the lowest member, sealed for
/// every member of another process. COLLECTIVE.
/// @throws CryptoError, NetworkError, the same on every process, for anything but exactly the seeds
/// that the plan lets one agent give to another.
[[nodiscard]] std::vector<LocalSeed> deal_seeds(Network& network,
                                                const NoisePlan& plan,
                                                Session& session,
                                                std::span<const int> groups);

// Seeds of groups of everybody, to which every agent gives a share.

/// Seeds of these groups for the agents of this process. Every share goes to agent 0, sealed, and
/// all shares come back, sealed, to one agent of every process. Everybody checks all shares against
/// what was committed to in the handshake. COLLECTIVE.
/// @throws CryptoError, NetworkError, the same on every process.
[[nodiscard]] std::vector<LocalSeed> draw_joint_seeds(Network& network,
                                                      Session& session,
                                                      std::span<const int> groups);

// Seeds of groups of two, which follow from pair secrets.

/// Seeds of these groups of two for the agents of this process. Nothing is sent. LOCAL.
/// Cost: one X25519 a pair with an agent here, on `threads` threads.
[[nodiscard]] std::vector<LocalSeed> derive_pair_seeds(const NoisePlan& plan,
                                                       Session& session,
                                                       std::span<const int> local_agents,
                                                       std::span<const int> groups,
                                                       int threads);

}  // namespace sotto
