#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <utility>
#include <vector>

namespace sotto {

/// Chosen agents (or streams), and the place of each among them; -1 for the others.
struct AgentIndex {
    std::vector<int> agents;
    std::vector<int> place;
    AgentIndex() = default;
    AgentIndex(int all, std::vector<int> chosen)
        : agents(std::move(chosen)), place(static_cast<std::size_t>(all), -1) {
        for (std::size_t i = 0; i < agents.size(); ++i)
            place[static_cast<std::size_t>(agents[i])] = static_cast<int>(i);
    }
    [[nodiscard]] int of(int agent) const {
        return place.empty() ? -1 : place[static_cast<std::size_t>(agent)];
    }
    [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(agents.size()); }
};

}  // namespace sotto
