#include "sotto/privacy/coalitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sotto/core/error.hpp"

namespace sotto {

double count_coalitions(int agents, int size) {
    double count = 1;
    for (int i = 0; i < size; ++i) count = count * (agents - i) / (i + 1);
    return count;
}

void check_coalition_size(int agents, int size) {
    constexpr double most = 1e6;
    if (size < 0 || (size > 0 && size >= agents))
        throw ConfigError(fmt::format("coalition-size: {} is not allowed (0 to {} of {} agents)",
                                      size,
                                      std::max(agents - 1, 0),
                                      agents));
    if (const double count = count_coalitions(agents, size); count > most)
        throw ConfigError(fmt::format(
            "coalition-size: {} of {} agents are {:.3g} coalitions; at most {:g} can be "
            "checked",
            size,
            agents,
            count,
            most));
}

std::vector<int> first_coalition(int size) {
    std::vector<int> coalition(static_cast<std::size_t>(size));
    std::iota(coalition.begin(), coalition.end(), 0);
    return coalition;
}

bool next_coalition(std::vector<int>& coalition, int agents) {
    const auto size = static_cast<int>(coalition.size());
    for (int i = size - 1; i >= 0; --i) {
        const auto place = static_cast<std::size_t>(i);
        if (coalition[place] >= agents - size + i) continue;
        ++coalition[place];
        for (std::size_t j = place + 1; j < coalition.size(); ++j)
            coalition[j] = coalition[j - 1] + 1;
        return true;
    }
    return false;
}

}  // namespace sotto
