#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "sums/learnt_sums.hpp"

namespace sotto {

/// What secure sums hide from coalitions of 1, 2, ..., max(asked, further) agents, fewer than there
/// are, in every round of the period. All coalitions of a size are examined whose members are at
/// most 2 K apart in the graph (K gossip steps); others know no more than their parts. A size that
/// would cost more than a few seconds and all larger ones are left out (SumsAgainst::computed). If
/// no examined coalition exposes a message, others are constructed: a receiver and all its
/// neighbours but one; the mask partners of one neighbour; two receivers and the neighbours that
/// only one of them has, except one. @param asked >= 1. Cost for q colluders: the number of
/// coalitions, times q^3 neighbours, times the rounds of the period; with several gossip steps as
/// RoundSums.
[[nodiscard]] SumHiding what_sums_hide(
    const Graph& graph, const MixingSchedule& schedule, SumRules rules, int asked, int further);

/// Groups of agents connected by steps of at most `reach` edges. All groups of one size are visited
/// once each (Wernicke's ESU, "Efficient detection of network motifs", 2006).
class NearGroups {
  public:
    /// @param most_pairs limit of the pairs of agents within reach that are kept; above it, only
    /// groups of one are visited. Cost: the edges within reach of every agent.
    NearGroups(const Graph& graph, int reach, std::size_t most_pairs);

    /// Calls visit(group), ascending members, until it returns false. @return whether all groups
    /// of the size were visited.
    bool visit(int size, const std::function<bool(std::span<const int>)>& visit) const;

    /// Ascending, without the agent itself; empty if there are too many pairs.
    [[nodiscard]] std::span<const int> near(int agent) const;

  private:
    struct Walk;
    bool extend(Walk& walk, std::vector<int> candidates) const;

    int agents_;
    bool complete_ = true;
    std::vector<std::vector<int>> near_;  // empty where not complete
};

}  // namespace sotto
