#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

/// An agent is exposed if at most this share of its message stays hidden.
inline constexpr double exposed_share = 0.01;

/// How secure sums are carried out.
struct SumRules {
    int gossip_steps = 1;
    int mask_partners = 1;  ///< on each side, see mask_partners()
};

/// Linear combinations of the first messages of a round of agents outside a coalition, as the
/// coalition knows them at the end of the round.
struct LearntSums {
    std::vector<int> agents;  ///< in any of the combinations; ascending
    /// For each of `agents`, the hidden share of its message if messages are independent and of
    /// similar size: sqrt(1 - |P e_v|^2), P the projection on the combinations. 1: nothing is
    /// learnt, 0: the message is known.
    std::vector<double> hidden;
    int sums = 0;  ///< independent combinations
    /// The fewest agents in one of the combinations; absent for more than two.
    std::optional<int> smallest_sum;

    /// Agents with at most exposed_share of their message hidden.
    [[nodiscard]] std::vector<int> exposed() const;
};

/// What coalitions learn from the secure sums of one round (docs/equations.md#secure-sums). For
/// every connected component K of the mask graph of its neighbours outside the coalition, member a
/// gets, after subtracting the coalition's own messages,
///
///     sum_{v in K} w_av m_v;
///
/// in gossip step k the message is m = W^(k-1) m(1), up to what the coalition knows. A sum that
/// differs from a combination of others by less than 1e-13 of its size counts as nothing new, since
/// products of doubles carry errors of 2^-53.
class RoundSums {
  public:
    /// Graph and mixing must outlive it. @param mixing of the round, on the graph.
    RoundSums(const Graph& graph, const MixingMatrix& mixing, SumRules rules);

    /// @param coalition ascending. Cost with one gossip step: r^2 times the number of neighbours, r
    /// the number of sums; with K steps: (K r)^2 n.
    [[nodiscard]] LearntSums learnt_by(std::span<const int> coalition);

  private:
    using Row = std::vector<std::pair<int, double>>;  // agents and weights
    [[nodiscard]] std::vector<Row> rows_of(int receiver) const;
    [[nodiscard]] bool outside(int agent) const {
        return member_[static_cast<std::size_t>(agent)] == 0;
    }
    [[nodiscard]] std::vector<int> columns_of(const std::vector<Row>& rows) const;
    /// The row times W restricted to the agents outside, scaled to length 1; zeros if nothing is
    /// left.
    [[nodiscard]] std::vector<double> mixed(const std::vector<double>& row,
                                            const std::vector<int>& agents) const;

    const Graph& graph_;
    const MixingMatrix& mixing_;
    SumRules rules_;
    std::vector<char> member_;  // of the coalition looked at
    std::vector<int> column_;   // of agents, in the matrix of the coalition looked at
};

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
