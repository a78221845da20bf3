#pragma once

#include <span>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// Checks the plan against the budgets of the given agents, for the eavesdropper and every
/// coalition of `coalition_size` other agents that also sees all messages, by recomputing R^-1 from
/// the plan's own coefficients, or in large plans by flows near those agents; and that the grid
/// step is at most 2^-20 of their conditional standard deviation. Every process calls it for its
/// own agents before the first round.
/// @param exposures, budgets one per agent of the network.
/// @throws PrivacyError with agent, mu and limit otherwise (1e-9 relative is tolerated).
void verify_agents_protected(const NoisePlan& plan,
                             std::span<const int> agents,
                             std::span<const Exposure> exposures,
                             std::span<const PrivacyBudget> budgets,
                             int coalition_size = 0);

/// Number of coalitions of `size` out of `agents` agents.
[[nodiscard]] double count_coalitions(int agents, int size);

/// @throws ConfigError unless 0 <= size < agents (0 is allowed for one agent) and, up to
/// most_dense_agents agents, there are at most a million coalitions, all of which are checked. Of
/// more agents those near each agent are.
void check_coalition_size(int agents, int size);
/// @throws ConfigError if there are more than a million coalitions.
void check_coalition_count(int agents, int size);

/// The first coalition in lexicographic order: {0, 1, ..., size - 1}.
[[nodiscard]] std::vector<int> first_coalition(int size);
/// Replaces it by the next one in lexicographic order; false (and unchanged) after the last.
[[nodiscard]] bool next_coalition(std::vector<int>& coalition, int agents);

/// Calls f(coalition) for every coalition of `size` agents (ascending members), in lexicographic
/// order. Size 0: once, with an empty one.
template <class Function>
void for_each_coalition(int agents, int size, Function&& f) {
    std::vector<int> coalition = first_coalition(size);
    do {
        f(static_cast<const std::vector<int>&>(coalition));
    } while (next_coalition(coalition, agents));
}

}  // namespace sotto
