#include "local_seeds.hpp"

#include <algorithm>

namespace sotto {

std::optional<std::size_t> place_of(std::span<const int> local_agents, int agent) {
    const auto found = std::ranges::lower_bound(local_agents, agent);
    if (found == local_agents.end() || *found != agent) return std::nullopt;
    return static_cast<std::size_t>(found - local_agents.begin());
}

}  // namespace sotto
