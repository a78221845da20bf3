#pragma once

#include <string>
#include <vector>

#include "sotto/graph/graph.hpp"

namespace sotto {

/// What one agent says of its edges: numbers of its neighbours, ascending, each once.
using NeighbourList = std::vector<int>;

/// Reads an agent's neighbours: on every line a number, or an edge, two numbers of which one is the
/// agent's own; separated by blanks, tabs or a comma; # or % starts a comment; plain or .gz. An
/// edge to itself is left out.
/// @param agents numbers are 0 to agents - 1.
/// @throws DataError naming the file and line for what is no number, no agent, or no edge of the
/// agent's own, and beyond 4194304 edges.
[[nodiscard]] NeighbourList read_neighbour_list(const std::string& path, int agent, int agents);

/// The graph of what all agents say, one list each.
/// @throws DataError naming both agents of an edge that only one of them names; and one that is not
/// connected with agent 0.
[[nodiscard]] Graph graph_of_neighbour_lists(const std::vector<NeighbourList>& lists);

}  // namespace sotto
