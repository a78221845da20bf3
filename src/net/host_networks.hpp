#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "net/agent_blocks.hpp"
#include "net/message_precision.hpp"
#include "sotto/graph/graph.hpp"

namespace sotto {

// Addresses of hosts, and the networks they share.

/// An address of an interface, with the length of its network's prefix: "eth0", 10.0.0.7, 24.
struct HostAddress {
    std::string interface;
    std::string address;
    int prefix = 0;
};

/// Of IPv4 but for the loopback's, by host.
using HostAddresses = std::map<std::string, std::vector<HostAddress>>;

/// This host's.
[[nodiscard]] std::vector<HostAddress> own_addresses();

/// "eth0 10.0.0.7/24", separated by commas; and back, without what is none.
[[nodiscard]] std::string addresses_text(const std::vector<HostAddress>& addresses);
[[nodiscard]] std::vector<HostAddress> addresses_from(const std::string& text);

/// Networks in which every host has an address of its own, "10.0.0.0/24", in the order of the first
/// host's interfaces. One like docker0's, which has the same address everywhere, is none.
[[nodiscard]] std::vector<std::string> common_networks(const HostAddresses& hosts);

/// Addresses that stand on several hosts: "docker0 172.17.0.1 (node1, node2)".
[[nodiscard]] std::vector<std::string> repeated_addresses(const HostAddresses& hosts);

/// Which common network messages are to take: the one that the hosts' own names lead to, otherwise
/// all of them. Separated by commas; empty: there is none.
/// @param resolve an address of IPv4 for a name, empty where there is none.
[[nodiscard]] std::string chosen_network(
    const HostAddresses& hosts, const std::function<std::string(const std::string&)>& resolve);

/// By the system's resolver; empty where it knows none.
[[nodiscard]] std::string resolved_address(const std::string& name);

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
