#pragma once

#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/privacy/sum_hiding.hpp"
#include "sotto/sums/learnt_sums.hpp"

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

}  // namespace sotto
