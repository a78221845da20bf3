#pragma once

#include <vector>

namespace sotto {

/// Number of coalitions of `size` out of `agents` agents.
[[nodiscard]] double count_coalitions(int agents, int size);

/// @throws ConfigError unless 0 <= size < agents (0 is allowed for one agent) and there are at most
/// a million coalitions: all of them are checked.
void check_coalition_size(int agents, int size);

/// The first coalition in lexicographic order: {0, 1, ..., size - 1}.
[[nodiscard]] std::vector<int> first_coalition(int size);
/// Steps to the next one in lexicographic order; false (and unchanged) after the last.
[[nodiscard]] bool next_coalition(std::vector<int>& coalition, int agents);

/// Calls f(coalition) for every coalition of `size` out of `agents` agents (ascending members), in
/// lexicographic order. Size 0: once, with nobody.
template <class Function>
void for_each_coalition(int agents, int size, Function&& f) {
    std::vector<int> coalition = first_coalition(size);
    do {
        f(static_cast<const std::vector<int>&>(coalition));
    } while (next_coalition(coalition, agents));
}

}  // namespace sotto
