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
/// are: of each size all coalitions, in every round of the period. Only those need a look whose
/// members can help each other, at most 2 K apart in the graph (K gossip steps): what others have
/// is what their parts have. A size that would cost more than a few seconds is left out
/// (SumsAgainst::computed), and all above it; then, or where none of the sizes has a message, a
/// coalition that has one is looked for among those made for it: a receiver and all its neighbours
/// but one, or the mask partners of one, and two receivers and the neighbours that only one of them
/// has, but for one. @param asked >= 1.
/// Cost: of q colluders the number of those coalitions, times q^3 neighbours each, times the rounds
/// of the period; with several gossip steps as RoundSums.
[[nodiscard]] SumHiding what_sums_hide(
    const Graph& graph, const MixingSchedule& schedule, SumRules rules, int asked, int further);

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
