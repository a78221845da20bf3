#pragma once

// The graph of agents that know their own neighbours only; not installed.

#include <string>
#include <string_view>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/graph/neighbour_list.hpp"
#include "sotto/net/agent_blocks.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// What a process says of its agents, in their order.
[[nodiscard]] std::string pack_neighbour_lists(const std::vector<NeighbourList>& lists);
/// @throws NetworkError naming the process for anything but one list of other agents, ascending,
/// for each of its own.
[[nodiscard]] std::vector<NeighbourList> unpack_neighbour_lists(std::string_view bytes,
                                                                int process,
                                                                const AgentBlocks& blocks);

/// Every process reads what its agents know, tells all others, and makes the graph of it by itself
/// ([W] V-B: agents that know their neighbours only come to know the graph). COLLECTIVE.
/// @param path read_neighbour_list; %r is the agent's number.
/// @throws DataError, the same on every process: as read_neighbour_list and
/// graph_of_neighbour_lists. @throws NetworkError as unpack_neighbour_lists.
[[nodiscard]] Graph agree_on_graph(Network& network, const std::string& path);

}  // namespace sotto
