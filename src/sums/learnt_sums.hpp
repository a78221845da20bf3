#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// An agent counts as exposed where at most this share of its message stays hidden.
inline constexpr double exposed_share = 0.01;

/// How secure sums are carried out.
struct SumRules {
    int gossip_steps = 1;
    int mask_partners = 1;  ///< on each side, see mask_partners()
};

/// Linear combinations of the first messages of a round, those of agents outside a coalition, that
/// the coalition has learnt by the end of the round.
struct LearntSums {
    std::vector<int> agents;  ///< in any of the combinations; ascending
    /// Of each of `agents`, how much of its message stays hidden where messages are alike in size
    /// and independent: sqrt(1 - |P e_v|^2), P the projection on the combinations. 1: nothing is
    /// learnt of it, 0: it is known.
    std::vector<double> hidden;
    int sums = 0;  ///< independent combinations
    /// The fewest agents that one of the combinations is made of; none for more than two.
    std::optional<int> smallest_sum;

    /// Agents of whose message at most exposed_share stays hidden.
    [[nodiscard]] std::vector<int> exposed() const;
};

/// What coalitions learn from the secure sums of one round (docs/equations.md 10). Member a gets,
/// for every part K of the mask graph of its neighbours outside the coalition, and takes off what
/// its own side sent,
///
///     sum_{v in K} w_av m_v;
///
/// in gossip step k the message is m = W^(k-1) m(1) beside what the coalition knows. A sum that
/// differs from a combination of others by less than 1e-13 of its size says nothing new: products
/// of doubles carry errors of 2^-53.
class RoundSums {
  public:
    /// Graph and mixing are borrowed. @param mixing of the round, on the graph.
    RoundSums(const Graph& graph, const MixingMatrix& mixing, SumRules rules);

    /// @param coalition ascending. Cost with one gossip step: r^2 times the number of neighbours, r
    /// the sums; with K of them (K r)^2 n.
    [[nodiscard]] LearntSums learnt_by(std::span<const int> coalition);

  private:
    using Row = std::vector<std::pair<int, double>>;  // agents and weights
    [[nodiscard]] std::vector<Row> rows_of(int receiver) const;
    [[nodiscard]] bool outside(int agent) const {
        return member_[static_cast<std::size_t>(agent)] == 0;
    }
    [[nodiscard]] std::vector<int> columns_of(const std::vector<Row>& rows) const;
    /// The row times W among the agents outside, scaled to length 1; zeros where nothing is left.
    [[nodiscard]] std::vector<double> mixed(const std::vector<double>& row,
                                            const std::vector<int>& agents) const;

    const Graph& graph_;
    const MixingMatrix& mixing_;
    SumRules rules_;
    std::vector<char> member_;  // of the coalition looked at
    std::vector<int> column_;   // of agents, in the matrix of the coalition looked at
};

}  // namespace sotto
