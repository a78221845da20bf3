#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sotto {

/// Agents that pool what they receive in a round, and whose messages they then have.
struct SumExample {
    std::vector<int> colluders;  ///< ascending
    std::vector<int> exposed;    ///< ascending
    long round = 0;              ///< of the schedule's period
};

/// What secure sums hide from coalitions of up to so many agents. Nothing else is known where
/// `computed` is false.
struct SumsAgainst {
    int colluders = 1;
    bool computed = false;
    /// Of every agent, in how many rounds of the period some such coalition has its message.
    std::vector<long> rounds_exposed;
    /// The smallest share of a message that stays hidden (LearntSums::hidden), over agents,
    /// coalitions and rounds.
    double least_hidden = 1;
    /// The fewest agents whose messages a combination of learnt sums is made of; none where a
    /// coalition learns too many sums to tell.
    std::optional<int> smallest_sum;
    std::optional<SumExample> worst;  ///< one of those that have most messages in one round

    /// Whose message is had in at least so many rounds, ascending.
    [[nodiscard]] std::vector<int> exposed_in(long rounds) const;
};

/// What secure sums hide on a graph with its mixing schedule (docs/equations.md 10).
struct SumHiding {
    int agents = 0;
    long rounds = 1;  ///< of the schedule's period
    int gossip_steps = 1;
    int mask_partners = 1;             ///< on each side
    int asked = 1;                     ///< colluders that sums are to withstand
    std::vector<SumsAgainst> against;  ///< of 1, 2, ... colluders; `asked` is among them
    /// A coalition that has a message, where none of those above has: the smallest that was found.
    std::optional<SumExample> known;

    /// Whether in every round some coalition of `asked` has each agent's message.
    [[nodiscard]] bool nothing() const;
};

/// The same with agents called by these numbers. @param numbers of all agents, ascending.
/// @param all agents there are numbers for: those without a part are never exposed.
[[nodiscard]] SumHiding renumbered(SumHiding hiding, std::span<const int> numbers, int all);

/// For people: what a sum is, then a line on each number of colluders.
[[nodiscard]] std::vector<std::string> statements_of(const SumHiding& hiding);

/// @throws ConfigError where they hide nothing, saying what to change.
void require_hiding(const SumHiding& hiding);

}  // namespace sotto
