#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/control.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "trust/handshake.hpp"
#include "trust/key_ring.hpp"
#include "trust/secret.hpp"

namespace sotto {

/// One key ring per local agent with exactly the seeds the plan gives it, made as SeedMaker says.
/// No seed is sent in clear; only processes of a group's members see its seed. COLLECTIVE.
///
/// Cost: one X25519 (40 us) per pair that shares a group of two, on `threads` threads; one sealed
/// message to each other member of a larger group; for groups of all agents one from every agent to
/// agent 0 and back. Agents of one process need no messages.
/// @throws CryptoError, NetworkError, the same on every process.
[[nodiscard]] std::vector<KeyRing> distribute_seeds(Control& network,
                                                    const NoisePlan& plan,
                                                    Session& session,
                                                    int threads = 1);

/// Reproducible, INSECURE key rings: reproducible_rings. LOCAL.
[[nodiscard]] std::vector<KeyRing> distribute_seeds(const Control& network,
                                                    const NoisePlan& plan,
                                                    std::uint64_t noise_seed);

struct LocalSeed {
    std::size_t place;  ///< of the agent among the local ones
    int group;
    SecretKey seed;
};

/// Index of an agent among the local agents (ascending); nothing if it is not local.
[[nodiscard]] std::optional<std::size_t> place_of(std::span<const int> local_agents, int agent);

/// Runs a step on data from a process. @throws CryptoError naming that process, whichever agent the
/// error is about, since a sender may impersonate others.
template <class Step>
void take_from(std::size_t process, Step&& step) {
    try {
        step();
    } catch (const Error& error) {
        throw CryptoError(fmt::format("what rank {} sent of seeds: {}", process, error.what()));
    }
}

/// Seeds of these groups for the local agents: drawn by the lowest member, sealed for every member
/// of another process. COLLECTIVE.
/// @throws CryptoError, NetworkError, the same on every process, for anything but exactly the seeds
/// the plan has one agent give to another.
[[nodiscard]] std::vector<LocalSeed> deal_seeds(Control& network,
                                                const NoisePlan& plan,
                                                Session& session,
                                                std::span<const int> groups);

/// Seeds of these groups of all agents for the local agents. Every share goes to agent 0, sealed,
/// and all shares come back, sealed, to one agent of every process. Everybody checks all shares
/// against the commitments of the handshake. COLLECTIVE.
/// @throws CryptoError, NetworkError, the same on every process.
[[nodiscard]] std::vector<LocalSeed> draw_joint_seeds(Control& network,
                                                      Session& session,
                                                      std::span<const int> groups);

/// Seeds of these groups of two for the local agents, from pair secrets. Nothing is sent. LOCAL.
/// Cost: one X25519 per pair with a local agent, on `threads` threads.
[[nodiscard]] std::vector<LocalSeed> derive_pair_seeds(const NoisePlan& plan,
                                                       Session& session,
                                                       std::span<const int> local_agents,
                                                       std::span<const int> groups,
                                                       int threads);

}  // namespace sotto
