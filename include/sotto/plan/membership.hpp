#pragma once

#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// The agents of a run, and those of them that are there now. An agent keeps its number for ever:
/// data, seeds of batches, files and ledgers go by it. Network, graph and plan know only those who
/// are there, and number them from 0: their places, in the order of their numbers.
struct Membership {
    int all = 0;               ///< agents of the run; numbers are 0 to all - 1
    std::vector<int> numbers;  ///< of every place, ascending

    [[nodiscard]] static Membership everybody(int agents);
    [[nodiscard]] int size() const { return static_cast<int>(numbers.size()); }
    [[nodiscard]] int number(int place) const { return numbers[static_cast<std::size_t>(place)]; }
    /// -1 for an agent that is not there.
    [[nodiscard]] int place(int number) const;
    /// Numbers of those that are not there, ascending.
    [[nodiscard]] std::vector<int> gone() const;
    /// Places of these agents, of those that are there.
    [[nodiscard]] std::vector<int> places(const std::vector<int>& numbers_wanted) const;
};

/// A plan of places as a plan of numbers; who is gone adds no noise and is in no group.
[[nodiscard]] NoisePlan renumbered(NoisePlan plan, const Membership& members);

}  // namespace sotto
