#pragma once

#include <optional>

#include "sotto/graph/topography.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Process 0's graph and mixing matrix, on every process. COLLECTIVE.
/// @param own needed on process 0. Another process may give what it built itself, which is then
/// compared: the graphs must be equal, and the weights within 1e-12. All use process 0's numbers.
/// @throws NetworkError, the same on every process, naming rank and quantity that differ, or if
/// process 0 sent something else than a graph of the network's agents with a mixing matrix.
[[nodiscard]] Topography share_topography(Network& network, const std::optional<Topography>& own);

/// Process 0's plan, on every process. COLLECTIVE.
/// @param own as above; two plans agree if they have the same streams and rows, and their scale
/// and coefficients differ by at most 1e-12 of the largest. All use process 0's numbers, because
/// shared noise cancels only where its coefficients have the same bits.
[[nodiscard]] NoisePlan share_plan(Network& network, const std::optional<NoisePlan>& own);

}  // namespace sotto
