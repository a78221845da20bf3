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

/// Simple graph of agents 0..n-1: who may send to whom. Undirected, neighbours hear each other; in
/// a directed one perhaps only one of two hears the other. Immutable.
class Graph {
  public:
    /// Self-loops are dropped; repeated edges, and the two directions of one edge, count once.
    /// @param agents number of agents, >= 1.   @param edges pairs in [0, agents).
    /// @param labels name of every agent as its user knows it, or empty ("0", "1", ...).
    /// @throws ConfigError for an agent out of range or a wrong number of labels.
    [[nodiscard]] static Graph from_edges(int agents,
                                          std::vector<Edge> edges,
                                          std::vector<std::string> labels = {});
    /// Directed. Self-loops are dropped; repeated arcs count once. Otherwise as from_edges.
    [[nodiscard]] static Graph from_arcs(int agents,
                                         std::vector<Arc> arcs,
                                         std::vector<std::string> labels = {});
    /// from_arcs or from_edges.
    [[nodiscard]] static Graph from_links(int agents,
                                          bool directed,
                                          std::vector<std::pair<int, int>> links,
                                          std::vector<std::string> labels = {});

    [[nodiscard]] int agents() const { return agents_; }
    /// Whether it was made of arcs.
    [[nodiscard]] bool directed() const { return directed_; }
    /// Pairs of neighbours, ascending, each once, whatever their directions.
    [[nodiscard]] std::span<const Edge> edges() const { return edges_; }
    /// Messages of one exchange: arcs, or both directions of every edge.
    [[nodiscard]] std::size_t messages() const { return heard_.values.size(); }
    /// (sender, receiver) of these messages, ascending.
    [[nodiscard]] std::vector<Arc> arcs() const;
    /// What from_links makes the graph of: its arcs where it is directed, else its edges.
    [[nodiscard]] std::vector<std::pair<int, int>> links() const;
    /// Whose messages u gets: ascending, without u itself.
    [[nodiscard]] std::span<const int> heard(int u) const { return heard_.of(u); }
    /// Who gets u's messages: ascending, without u itself.
    [[nodiscard]] std::span<const int> hearers(int u) const { return hearers_.of(u); }
    /// Whether `receiver` gets messages of `sender`, another agent.
    [[nodiscard]] bool hears(int receiver, int sender) const;
    /// Whom u hears or who hears u: ascending, without u itself.
    [[nodiscard]] std::span<const int> neighbours(int u) const { return neighbours_.of(u); }
    /// Ascending, with u itself: among them are the agents whose messages u mixes.
    [[nodiscard]] std::span<const int> closed_neighbourhood(int u) const { return closed_.of(u); }
    [[nodiscard]] int degree(int u) const { return static_cast<int>(neighbours(u).size()); }
    [[nodiscard]] const std::string& label(int u) const;
    /// Component index of every agent, numbered by their lowest agent: of agents that hear of each
    /// other, over others perhaps. In a directed graph these are its strong components.
    /// Cost O(n + edges).
    [[nodiscard]] std::vector<int> components() const;
    /// Whether there is one component: every agent hears of every other.
    [[nodiscard]] bool connected() const;
    /// Number of edges between neighbours on a shortest path from `source`, whatever their
    /// directions; -1 where unreachable. Cost O(n + edges).
    [[nodiscard]] std::vector<int> distances_from(int source) const;
    /// Those agents, numbered from 0 in the order given, with their labels and the edges between
    /// them. @param kept ascending.
    [[nodiscard]] Graph induced_subgraph(std::span<const int> kept) const;
    /// Digest of the number of agents and the edges or arcs (labels excluded).
    [[nodiscard]] Digest hash() const;

  private:
    /// Agents by agent.
    struct Lists {
        std::vector<int> values;
        std::vector<std::size_t> starts;  // one an agent, and the end
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
