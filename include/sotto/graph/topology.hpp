#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/graph/graph.hpp"

namespace sotto {

/// Built-in families. All are deterministic but erdos-renyi and geometric.
enum class Topology {
    erdos_renyi,  ///< every pair with probability p
    ring,         ///< u - u+1 mod n
    path,         ///< u - u+1
    star,         ///< agent 0 in the middle
    grid,         ///< r x c, r*c = n, as square as possible, both >= 2 (or one agent)
    torus,        ///< grid with wrap-around, both sides >= 3 (or one agent)
    complete,     ///< every pair
    hypercube,    ///< n = 2^k, edges between numbers that differ in one bit
    exponential,  ///< u - u + 2^k mod n, for 2^k < n
    geometric     ///< uniform points of the unit square, joined when nearer than a radius
};

[[nodiscard]] Topology parse_topology(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(Topology topology);
[[nodiscard]] std::vector<std::string> topology_names();

struct TopologySpec {
    Topology topology = Topology::erdos_renyi;
    int agents = 20;                ///< >= 1
    double edge_probability = 0.5;  ///< erdos-renyi; in (0, 1]
    std::optional<double> radius;   ///< geometric; default 1.5 sqrt(log n / (pi n))
    std::uint64_t graph_seed = 0;   ///< random families
    /// Messages go one way: u -> v of ring, torus and exponential as listed; every ordered pair
    /// with probability p in erdos-renyi. No other family.
    bool directed = false;
};

struct GeneratedGraph {
    Graph graph;
    int attempts = 1;  ///< draws until a connected graph appeared
};

/// A connected graph of the family: strongly, where it is directed. Random families are drawn
/// again, from the same seeded sequence, until connected (at most 1000 times).
/// @throws ConfigError if the family does not exist for this number of agents or directed (what is
///         allowed is in the message) or no draw was connected (with the probability to try
///         instead).
[[nodiscard]] GeneratedGraph make_topology(const TopologySpec& spec);

}  // namespace sotto
