#pragma once

#include <algorithm>
#include <vector>

#include "sotto/graph/graph.hpp"

namespace sotto::test {

inline Graph made_of(Topology topology, int agents, std::uint64_t seed = 1) {
    TopologySpec spec;
    spec.topology = topology;
    spec.agents = agents;
    spec.edge_probability = 0.5;
    spec.graph_seed = seed;
    return make_topology(spec).graph;
}

/// The complete graph but for these edges.
inline Graph complete_without(int agents, const std::vector<Edge>& missing) {
    std::vector<Edge> edges;
    for (int u = 0; u < agents; ++u)
        for (int v = u + 1; v < agents; ++v)
            if (std::ranges::find(missing, Edge{u, v}) == missing.end()) edges.emplace_back(u, v);
    return Graph::from_edges(agents, edges);
}

}  // namespace sotto::test
