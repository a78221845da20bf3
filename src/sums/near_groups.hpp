#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "sotto/graph/graph.hpp"

namespace sotto {

/// Groups of agents that hang together by steps of at most `reach` edges. All of one size are gone
/// through once each (Wernicke's ESU, "Efficient detection of network motifs", 2006).
class NearGroups {
  public:
    /// @param most_pairs of agents that near to each other that may be kept; beyond, only groups of
    /// one are known. Cost: the edges within reach of every agent.
    NearGroups(const Graph& graph, int reach, std::size_t most_pairs);

    /// Calls visit(group), ascending members, until it returns false. @return whether all groups
    /// of the size were visited.
    bool visit(int size, const std::function<bool(std::span<const int>)>& visit) const;

    /// Ascending, without the agent itself; nobody where there are too many pairs.
    [[nodiscard]] std::span<const int> near(int agent) const;

  private:
    struct Walk;
    bool extend(Walk& walk, std::vector<int> candidates) const;

    int agents_;
    bool complete_ = true;
    std::vector<std::vector<int>> near_;  // empty where not complete
};

}  // namespace sotto
