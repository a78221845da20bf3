#pragma once

#include <string>
#include <vector>

#include "sotto/graph/graph.hpp"

namespace sotto {

/// Neighbours that one agent names: ascending numbers, each once.
using NeighbourList = std::vector<int>;

/// Reads an agent's neighbours: on every line a number, or an edge of two numbers including the
/// agent's own, separated by blanks, tabs or a comma; # or % starts a comment; plain or .gz. An
/// edge to itself is dropped.
/// @param agents numbers are 0 to agents - 1.
/// @throws DataError naming file and line for anything else, and for more than 4194304 edges.
[[nodiscard]] NeighbourList read_neighbour_list(const std::string& path, int agent, int agents);

/// The graph of the lists of all agents.
/// @throws DataError for an edge that only one of its agents names, and for an agent not connected
/// with agent 0.
[[nodiscard]] Graph graph_of_neighbour_lists(const std::vector<NeighbourList>& lists);

}  // namespace sotto
