#pragma once

// What every network asks of its callers; not installed.

#include <Eigen/Dense>
#include <cstddef>

#include "sotto/graph/graph.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// @throws Error unless exactly one kind of message is given, of the same kind as `first`, and
///         complete.
void check_outgoing(const Outgoing& outgoing, const Outgoing& first, std::size_t receivers, int u);

/// @throws Error for a graph of another size than the network, or a second call.
void check_connect(const Graph& graph, int agents, bool connected);

/// @throws Error before `connect`, for a wrong number of messages, or an empty dimension.
void check_exchange(bool connected,
                    std::size_t messages,
                    std::size_t agents,
                    Eigen::Index dimension);

}  // namespace sotto
