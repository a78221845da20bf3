#pragma once

#include <optional>
#include <vector>

namespace sotto {

/// Observers whose figures a page may hold: with 100 agents 2 MB.
inline constexpr double most_observers = 7000;

/// Size of the largest coalitions a page shows. @param asked for; none: the largest for which there
/// are no more than most_observers, or fewer where many agents make each of them much work.
/// @throws ConfigError for a size that leaves nobody to learn about.
[[nodiscard]] int largest_shown_coalition(int agents, const std::optional<int>& asked);

/// Coalitions of `smallest` to `largest` agents, by size, then lexicographic.
[[nodiscard]] std::vector<std::vector<int>> coalitions_by_size(int agents,
                                                               int smallest,
                                                               int largest);

}  // namespace sotto
