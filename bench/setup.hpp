#pragma once

#include <cstdlib>

#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto::bench {

/// BENCH_QUICK=1: small sizes and few repetitions, to see that everything works.
inline bool quick() {
    const char* value = std::getenv("BENCH_QUICK");
    return value != nullptr && value[0] == '1';
}

/// The graph of most measurements: Erdos-Renyi, p = 0.5.
inline Graph random_graph(int agents, std::uint64_t graph_seed = 0) {
    TopologySpec spec;
    spec.topology = Topology::erdos_renyi;
    spec.agents = agents;
    spec.edge_probability = 0.5;
    spec.graph_seed = graph_seed;
    return make_topology(spec).graph;
}

}  // namespace sotto::bench
