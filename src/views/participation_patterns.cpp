#include "views/participation_patterns.hpp"

#include <algorithm>

namespace sotto {

std::vector<std::vector<Eigen::Index>> participation_patterns(std::span<const long> training_rounds,
                                                              const Participation& participation) {
    const long most = training_rounds.empty() ? 0 : std::ranges::max(training_rounds);
    const long cycle = std::min(participation.cycle, most + 1);
    std::vector<std::vector<Eigen::Index>> patterns(static_cast<std::size_t>(cycle));
    for (std::size_t t = 0; t < training_rounds.size(); ++t)
        patterns[static_cast<std::size_t>(training_rounds[t] % cycle)].push_back(
            static_cast<Eigen::Index>(t));
    return patterns;
}

}  // namespace sotto
