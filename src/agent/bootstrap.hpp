#pragma once

// What processes do before the first round: share graph and plan, verify them, open a session, and
// distribute the seeds of their noise.

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/topography.hpp"
#include "net/control.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "trust/handshake.hpp"
#include "trust/key_ring.hpp"
#include "trust/secret.hpp"

namespace sotto {

/// Process 0's graph and mixing matrix, on every process. COLLECTIVE.
/// @param own needed on process 0. If another process gives its own, the graphs must be equal, and
/// the weights within 1e-12. All use process 0's numbers.
/// @param most_matrices limit of mixing matrices: 1 if mixing does not change.
/// @throws NetworkError, the same on every process, naming rank and quantity that differ, or if
/// process 0 sent anything but a graph of the network's agents with a mixing matrix, or too many
/// bytes for one.
[[nodiscard]] Topography share_topography(Control& network,
                                          const std::optional<Topography>& own,
                                          double most_matrices);

/// Process 0's plan, on every process. COLLECTIVE.
/// @param own as above: streams and rows must be equal; scale and coefficients within 1e-12 of the
/// largest. All use process 0's numbers, because shared noise cancels only if coefficients have the
/// same bits.
/// @param graph, @param most_temporal_values limit the size of a plan (largest_plan_bytes).
[[nodiscard]] NoisePlan share_plan(Control& network,
                                   const std::optional<NoisePlan>& own,
                                   const Graph& graph,
                                   double most_temporal_values);

/// Upper bound of pack_topography: every label, every pair of agents, and all their weights in
/// every mixing matrix.
[[nodiscard]] std::uint64_t largest_topography_bytes(int agents, double most_matrices);

/// All of a topography, bit for bit.
[[nodiscard]] std::string pack_topography(const Topography& topography);

/// Inverse of pack_topography, for untrusted bytes.
/// @throws NetworkError unless they are a graph of so many agents with mixing matrices.
[[nodiscard]] Topography unpack_topography(std::string_view bytes, int wanted_agents);

/// The handshake of all agents (handshake.hpp): afterwards every pair has a secret, and with
/// credentials every agent has proved its identity. COLLECTIVE.
/// @param credentials on all processes or on none.
/// @param agreed_options text that all must have in common; part of what everybody signs.
/// @throws CryptoError, NetworkError, the same on every process, naming agent and identity.
[[nodiscard]] Session open_session(Control& network,
                                   const Topography& topography,
                                   const NoisePlan& plan,
                                   const Credentials* credentials,
                                   std::string_view agreed_options = {});

/// Every agent checks that the plan protects it as configured, also from every coalition of
/// `coalition_size` others, and all processes compare digests of graph, mixing and plan. A plan
/// without noise is accepted only if the agent's own budget has mu = 0, meaning that its user wants
/// none. COLLECTIVE.
/// @param exposures, budgets one per agent of the network; exposures include the effect of the
/// plan's temporal factor.
/// @throws PrivacyError, NetworkError, the same on every process; ConfigError for a plan of another
/// number of agents.
void verify_agreement(Control& network,
                      const Topography& topography,
                      const NoisePlan& plan,
                      const std::vector<Exposure>& exposures,
                      const std::vector<PrivacyBudget>& budgets,
                      int coalition_size = 0);

/// Compares what this process built with process 0's: graphs must be equal, and weights within
/// 1e-12 of the largest. LOCAL.
/// @throws NetworkError naming the process and the quantity that differs.
void require_same(int process, const Topography& own, const Topography& shared);

/// The same for plans: streams, groups and rows must be equal; scale, coefficients and temporal
/// factor within 1e-12 of the largest, since machines round differently.
void require_same(int process, const NoisePlan& own, const NoisePlan& shared);

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
