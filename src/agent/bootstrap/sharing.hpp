#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "graph/topography.hpp"
#include "net/network.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "trust/handshake.hpp"

namespace sotto {

/// Process 0's graph and mixing matrix, on every process. COLLECTIVE.
/// @param own needed on process 0. Another process may give what it built itself, which is then
/// compared: the graphs must be equal, and the weights within 1e-12. All use process 0's numbers.
/// @param most_matrices how many mixing matrices there can be: 1 where mixing does not change.
/// @throws NetworkError, the same on every process, naming rank and quantity that differ, or if
/// process 0 sent something else than a graph of the network's agents with a mixing matrix, or more
/// bytes than such a graph can have.
[[nodiscard]] Topography share_topography(Network& network,
                                          const std::optional<Topography>& own,
                                          double most_matrices);

/// Process 0's plan, on every process. COLLECTIVE.
/// @param own as above; two plans agree if they have the same streams and rows, and their scale
/// and coefficients differ by at most 1e-12 of the largest. All use process 0's numbers, because
/// shared noise cancels only where its coefficients have the same bits.
/// @param graph of the agents, and @param most_temporal_values say how large a plan can be
/// (largest_plan_bytes).
[[nodiscard]] NoisePlan share_plan(Network& network,
                                   const std::optional<NoisePlan>& own,
                                   const Graph& graph,
                                   double most_temporal_values);

// Graph and mixing matrices as bytes.

/// Bytes that pack_topography can make at most: every label, every pair of agents, and weights of
/// all of them in every mixing matrix.
[[nodiscard]] std::uint64_t largest_topography_bytes(int agents, double most_matrices);

/// Everything of a topography, bit for bit.
[[nodiscard]] std::string pack_topography(const Topography& topography);

/// What pack_topography made. The bytes may be anything.
/// @throws NetworkError for what is no graph of so many agents with mixing matrices.
[[nodiscard]] Topography unpack_topography(std::string_view bytes, int wanted_agents);

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
