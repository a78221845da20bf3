#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <span>

#include "sotto/graph/graph.hpp"
#include "sotto/net/agent_blocks.hpp"
#include "sotto/net/message_precision.hpp"

namespace sotto {

/// A network between hosts.
struct HostNetwork {
    double latency_seconds = 0;  ///< one way, from a host to any other
    double bits_per_second = 0;  ///< of each host's link, in each direction at the same time
};

/// What agents send each other in one exchange.
struct MessageFormat {
    Eigen::Index dimension = 1;
    MessagePrecision precision = MessagePrecision::float64;
    bool per_receiver = false;  ///< else the same to all, which goes to each other process once
    bool encrypted = true;
};

/// What an exchange takes beyond computing.
struct ExchangeTime {
    double latency_seconds = 0;
    double transfer_seconds = 0;
    int busiest_host = 0;
    double busiest_bytes = 0;  ///< through its link in the direction that carries more
};

/// The time of one MPI exchange over a network, from counted bytes:
///
///     pieces (1 or 3) latency + max over hosts of max(bytes out, bytes in) 8 / bandwidth.
///
/// A message longer than Open MPI's eager limit over TCP (64 KiB) crosses three times: the request,
/// its answer, the data. Bytes are values, tags, 64 of Open MPI's header a message, and 66 of
/// Ethernet, IP and TCP headers for every 1448. Processes of one host exchange at no cost.
/// @param host_of host of every process, from 0 on without gaps. Cost: the edges.
[[nodiscard]] ExchangeTime predict_exchange(const HostNetwork& network,
                                            const Graph& graph,
                                            const AgentBlocks& blocks,
                                            std::span<const int> host_of,
                                            const MessageFormat& format);

}  // namespace sotto
