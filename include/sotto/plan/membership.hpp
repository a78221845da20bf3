#pragma once

#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// All agents of a run, and those present. An agent keeps its number for ever: data, batch seeds,
/// files and ledgers use it. Network, graph and plan contain present agents only and use places: 0,
/// 1, ... in the order of the numbers.
struct Membership {
    int all = 0;               ///< agents of the run; numbers are 0 to all - 1
    std::vector<int> numbers;  ///< of every place, ascending

    [[nodiscard]] static Membership everybody(int agents);
    [[nodiscard]] int size() const { return static_cast<int>(numbers.size()); }
    [[nodiscard]] int number(int place) const { return numbers[static_cast<std::size_t>(place)]; }
    /// -1 for an absent agent.
    [[nodiscard]] int place(int number) const;
    /// Numbers of the absent agents, ascending.
    [[nodiscard]] std::vector<int> gone() const;
    /// Places of those of these agents that are present.
    [[nodiscard]] std::vector<int> places(const std::vector<int>& numbers_wanted) const;
};

/// A plan with places replaced by numbers; absent agents add no noise and are in no group.
[[nodiscard]] NoisePlan renumbered(NoisePlan plan, const Membership& members);

}  // namespace sotto
