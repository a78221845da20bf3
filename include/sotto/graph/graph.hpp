#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/core/hash.hpp"

namespace sotto {

/// Undirected edge, first < second.
using Edge = std::pair<int, int>;
/// Directed edge: second hears first.
using Arc = std::pair<int, int>;

/// Simple graph of agents 0..n-1: who may send to whom. In an undirected graph neighbours hear each
/// other. Immutable.
class Graph {
  public:
    /// Self-loops are dropped; repeated edges, and the two directions of one edge, count once.
    /// @param agents >= 1.   @param edges pairs in [0, agents).
    /// @param labels users' names of the agents, or empty ("0", "1", ...).
    /// @throws ConfigError for an agent out of range or a wrong number of labels.
    [[nodiscard]] static Graph from_edges(int agents,
                                          std::vector<Edge> edges,
                                          std::vector<std::string> labels = {});
    /// Directed; otherwise as from_edges.
    [[nodiscard]] static Graph from_arcs(int agents,
                                         std::vector<Arc> arcs,
                                         std::vector<std::string> labels = {});
    /// from_arcs or from_edges.
    [[nodiscard]] static Graph from_links(int agents,
                                          bool directed,
                                          std::vector<std::pair<int, int>> links,
                                          std::vector<std::string> labels = {});

    [[nodiscard]] int agents() const { return agents_; }
    /// Whether it was made from arcs.
    [[nodiscard]] bool directed() const { return directed_; }
    /// Pairs of neighbours, ascending, each once, whatever the direction.
    [[nodiscard]] std::span<const Edge> edges() const { return edges_; }
    /// Messages of one exchange: arcs, or two per edge.
    [[nodiscard]] std::size_t messages() const { return heard_.values.size(); }
    /// (sender, receiver) of all messages, ascending.
    [[nodiscard]] std::vector<Arc> arcs() const;
    /// Argument of from_links for this graph: its arcs if directed, otherwise its edges.
    [[nodiscard]] std::vector<std::pair<int, int>> links() const;
    /// Agents whose messages u receives: ascending, without u.
    [[nodiscard]] std::span<const int> heard(int u) const { return heard_.of(u); }
    /// Agents that receive u's messages: ascending, without u.
    [[nodiscard]] std::span<const int> hearers(int u) const { return hearers_.of(u); }
    /// Whether `receiver` receives messages of `sender`, another agent.
    [[nodiscard]] bool hears(int receiver, int sender) const;
    /// Agents that u hears or that hear u: ascending, without u.
    [[nodiscard]] std::span<const int> neighbours(int u) const { return neighbours_.of(u); }
    /// neighbours(u) and u, ascending; includes all agents whose messages u mixes.
    [[nodiscard]] std::span<const int> closed_neighbourhood(int u) const { return closed_.of(u); }
    [[nodiscard]] int degree(int u) const { return static_cast<int>(neighbours(u).size()); }
    [[nodiscard]] const std::string& label(int u) const;
    /// Component index of every agent, numbered by lowest agent; strong components if directed.
    /// Cost O(n + edges).
    [[nodiscard]] std::vector<int> components() const;
    /// Whether there is one component.
    [[nodiscard]] bool connected() const;
    /// Length of the shortest path from `source`, ignoring directions; -1 if unreachable. Cost O(n
    /// + edges).
    [[nodiscard]] std::vector<int> distances_from(int source) const;
    /// The subgraph of these agents, numbered from 0 in the given order, with their labels.
    /// @param kept ascending.
    [[nodiscard]] Graph induced_subgraph(std::span<const int> kept) const;
    /// Digest of the number of agents and the edges or arcs; labels are excluded.
    [[nodiscard]] Digest hash() const;

  private:
    /// A list of agents for each agent.
    struct Lists {
        std::vector<int> values;
        std::vector<std::size_t> starts;  // one per agent, and the end
        [[nodiscard]] std::span<const int> of(int u) const {
            const auto i = static_cast<std::size_t>(u);
            return {values.data() + starts[i], starts[i + 1] - starts[i]};
        }
    };
    Graph(int agents, bool directed, std::vector<Arc> arcs, std::vector<std::string> labels);
    static Lists seconds_by_first(int agents, std::span<const std::pair<int, int>> pairs);

    int agents_ = 0;
    bool directed_ = false;
    std::vector<Edge> edges_;
    std::vector<std::string> labels_;
    Lists heard_, hearers_, neighbours_, closed_;
};

/// Built-in families. All except erdos-renyi and geometric are deterministic.
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
    geometric     ///< uniform points of the unit square, joined if nearer than a radius
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
    /// Arcs u -> v of ring, torus and exponential as listed; every ordered pair with probability p
    /// in erdos-renyi. Other families are undirected only.
    bool directed = false;
};

struct GeneratedGraph {
    Graph graph;
    int attempts = 1;  ///< draws until the graph was connected
};

/// A connected graph of the family (strongly connected if directed). Random families are drawn
/// again from the same seeded sequence until connected, at most 1000 times.
/// @throws ConfigError if the family does not exist for these agents or directed (the message says
/// what is allowed), or no draw was connected (it says which probability to try).
[[nodiscard]] GeneratedGraph make_topology(const TopologySpec& spec);

}  // namespace sotto
