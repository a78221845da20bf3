#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/graph/graph.hpp"

namespace sotto::test {

inline Graph make(Topology topology, int agents, std::uint64_t seed = 1) {
    TopologySpec spec;
    spec.topology = topology;
    spec.agents = agents;
    spec.edge_probability = 0.4;
    spec.graph_seed = seed;
    return make_topology(spec).graph;
}

struct NamedGraph {
    std::string name;
    Graph graph;
};

/// {ring, path, star, complete, Erdos-Renyi} x sizes x seeds.
inline std::vector<NamedGraph> sample_graphs(const std::vector<int>& sizes = {1, 2, 3, 8, 21}) {
    std::vector<NamedGraph> graphs;
    for (const int n : sizes) {
        for (const Topology topology :
             {Topology::ring, Topology::path, Topology::star, Topology::complete})
            graphs.push_back({name_of(topology) + " " + std::to_string(n), make(topology, n)});
        for (const std::uint64_t seed : {1U, 2U, 3U})
            graphs.push_back({"erdos-renyi " + std::to_string(n) + " seed " + std::to_string(seed),
                              make(Topology::erdos_renyi, n, seed)});
    }
    return graphs;
}

/// A file that is gone after the test.
class TemporaryFile {
  public:
    explicit TemporaryFile(std::string_view content, const std::string& extension = ".txt")
        : path_(folder_.write("graph" + extension, content)) {}
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    TemporaryFolder folder_;
    std::string path_;
};

}  // namespace sotto::test
