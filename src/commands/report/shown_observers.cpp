#include "commands/report/shown_observers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/privacy/coalitions.hpp"

namespace sotto {

namespace {

/// Observers times agents^3, what they take where everybody shares seeds with everybody: about half
/// a minute on two cores for coalitions, minutes for single agents.
constexpr double most_work_for_coalitions = 2e10, most_work_for_agents = 3e12;

}  // namespace

int largest_shown_coalition(int agents, const std::optional<int>& asked) {
    if (asked) {
        if (*asked < 0 || *asked >= agents)
            throw ConfigError(
                fmt::format("--coalition-size: {} is not allowed (0 to {}, one less than there are "
                            "agents)",
                            *asked,
                            agents - 1));
        return *asked;
    }
    const double one = std::pow(agents, 3);
    double count = 1;
    for (int size = 1; size < agents; ++size) {
        count += count_coalitions(agents, size);
        if (count > most_observers ||
            count * one > (size == 1 ? most_work_for_agents : most_work_for_coalitions))
            return size - 1;
    }
    return std::max(agents - 1, 0);
}

std::vector<std::vector<int>> coalitions_by_size(int agents, int smallest, int largest) {
    std::vector<std::vector<int>> all;
    for (int size = smallest; size <= largest; ++size)
        for_each_coalition(
            agents, size, [&](const std::vector<int>& members) { all.push_back(members); });
    return all;
}

}  // namespace sotto
