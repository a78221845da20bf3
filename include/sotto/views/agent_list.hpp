#pragma once

#include <string_view>
#include <vector>

#include "sotto/graph/graph.hpp"

namespace sotto {

/// "a,b,...": agents of the graph, returned ascending. @throws ConfigError for one that does not
/// exist (it says how agents are numbered) or is named twice.
[[nodiscard]] std::vector<int> parse_agent_list(std::string_view option,
                                                std::string_view text,
                                                const Graph& graph);

/// The same, or "all".
[[nodiscard]] std::vector<int> parse_agents_or_all(std::string_view option,
                                                   std::string_view text,
                                                   const Graph& graph);

}  // namespace sotto
