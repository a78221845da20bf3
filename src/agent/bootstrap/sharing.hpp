#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "graph/topography.hpp"
#include "net/control.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "trust/handshake.hpp"

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

}  // namespace sotto
