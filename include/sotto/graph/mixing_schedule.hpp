#pragma once

#include <string>
#include <vector>

#include "sotto/graph/mixing.hpp"
#include "sotto/graph/topology.hpp"

namespace sotto {

/// Mixing that changes from round to round, on one union graph: round t uses matrices[t mod
/// period]. Agents without an edge in a round have weight 0 there, and send each other nothing.
struct ScheduledMixing {
    Graph graph;
    std::vector<MixingMatrix> matrices;
};

/// A fresh graph every round, each connected: random families are drawn again (seeded by
/// graph_seed and the round), the others keep their shape and get their agents in random order.
/// @param rule mixing on every one of them.  @throws ConfigError for a rule that is a file, and
/// where more than 10^8 weights would have to be kept.
[[nodiscard]] ScheduledMixing random_schedule(const TopologySpec& topology,
                                              const std::string& rule,
                                              long rounds);

/// One peer a round: in round t agent u takes the mean of its own model and that of u + 2^(t mod
/// ceil(log2 n)) mod n, or u - 2^(...) where the graph is directed. Doubly stochastic, and on the
/// exponential graph.
[[nodiscard]] std::vector<MixingMatrix> one_peer_schedule(const Graph& exponential_graph);

/// P matrices n x n from a .npy file, one below the other. @throws DataError naming file, matrix
/// and entry.
[[nodiscard]] std::vector<MixingMatrix> read_mixing_schedule(const Graph& graph,
                                                             const std::string& path);

}  // namespace sotto
