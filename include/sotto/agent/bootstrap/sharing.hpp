#pragma once

#include <optional>

#include "sotto/graph/topography.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/noise_plan.hpp"

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

}  // namespace sotto
