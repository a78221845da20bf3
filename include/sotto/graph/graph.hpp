#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/hash.hpp"

namespace sotto {

/// Undirected edge, first < second.
using Edge = std::pair<int, int>;

/// Simple undirected graph of agents 0..n-1: who may send to whom. Immutable.
class Graph {
  public:
    /// Self-loops are dropped; repeated edges, and the two directions of one edge, count once.
    /// @param agents number of agents, >= 1.   @param edges pairs in [0, agents).
    /// @param labels name of every agent as its user knows it, or empty ("0", "1", ...).
    /// @throws ConfigError for an agent out of range or a wrong number of labels.
    [[nodiscard]] static Graph from_edges(int agents,
                                          std::vector<Edge> edges,
                                          std::vector<std::string> labels = {});

    [[nodiscard]] int agents() const { return agents_; }
    /// Ascending, each edge once.
    [[nodiscard]] std::span<const Edge> edges() const { return edges_; }
    /// Ascending, without u itself.
    [[nodiscard]] std::span<const int> neighbours(int u) const;
    /// Ascending, with u itself: the agents whose messages u mixes.
    [[nodiscard]] std::span<const int> closed_neighbourhood(int u) const;
    [[nodiscard]] int degree(int u) const { return static_cast<int>(neighbours(u).size()); }
    [[nodiscard]] const std::string& label(int u) const;
    /// Component index of every agent, numbered by their lowest agent.
    [[nodiscard]] std::vector<int> components() const;
    [[nodiscard]] bool connected() const;
    /// Number of edges on a shortest path from `source`; -1 where unreachable. Cost O(n + edges).
    [[nodiscard]] std::vector<int> distances_from(int source) const;
    /// Those agents, numbered from 0 in the order given, with their labels and the edges between
    /// them. @param kept ascending.
    [[nodiscard]] Graph induced_subgraph(std::span<const int> kept) const;
    /// Digest of the number of agents and the edges (labels excluded).
    [[nodiscard]] Digest hash() const;

  private:
    Graph() = default;
    int agents_ = 0;
    std::vector<Edge> edges_;
    std::vector<std::string> labels_;
    std::vector<int> neighbours_;
    std::vector<int> closed_;
    std::vector<std::size_t> offset_;  // of u in neighbours_; closed_ is offset by u more
};

}  // namespace sotto
