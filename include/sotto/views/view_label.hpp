#pragma once

#include <string>
#include <vector>

#include "sotto/graph/graph.hpp"

namespace sotto {

/// "3", or "3 (label)" where a graph file named its agents.
[[nodiscard]] std::string label_of_agent(const Graph& graph, int agent);

/// Observers in a sentence: "Agent 3", "Agents 2, 5"; without any "Whoever sees every message".
[[nodiscard]] std::string label_of_observers(const std::vector<int>& members);

}  // namespace sotto
