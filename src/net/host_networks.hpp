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

/// An address of an interface with its network's prefix length: "eth0", 10.0.0.7, 24.
struct HostAddress {
    std::string interface;
    std::string address;
    int prefix = 0;
};

/// IPv4 addresses by host, without loopback.
using HostAddresses = std::map<std::string, std::vector<HostAddress>>;

[[nodiscard]] std::vector<HostAddress> own_addresses();

/// "eth0 10.0.0.7/24", separated by commas; and back, ignoring invalid parts.
[[nodiscard]] std::string addresses_text(const std::vector<HostAddress>& addresses);
[[nodiscard]] std::vector<HostAddress> addresses_from(const std::string& text);

/// Networks in which every host has its own address, "10.0.0.0/24", in the order of the first
/// host's interfaces. Networks with the same address everywhere, such as docker0's, are excluded.
[[nodiscard]] std::vector<std::string> common_networks(const HostAddresses& hosts);

/// Addresses used by several hosts: "docker0 172.17.0.1 (node1, node2)".
[[nodiscard]] std::vector<std::string> repeated_addresses(const HostAddresses& hosts);

/// The common network that the hosts' names resolve to, otherwise all common networks, separated by
/// commas; empty: there is none.
/// @param resolve the IPv4 address of a name, empty if unknown.
[[nodiscard]] std::string chosen_network(
    const HostAddresses& hosts, const std::function<std::string(const std::string&)>& resolve);

/// By the system's resolver; empty if unknown.
[[nodiscard]] std::string resolved_address(const std::string& name);

struct HostNetwork {
    double latency_seconds = 0;  ///< one way, between any two hosts
    double bits_per_second = 0;  ///< of each host's link, in each direction simultaneously
};

struct MessageFormat {
    Eigen::Index dimension = 1;
    MessagePrecision precision = MessagePrecision::float64;
    bool per_receiver = false;  ///< else the same to all, sent once to each other process
    bool encrypted = true;
};

struct ExchangeTime {
    double latency_seconds = 0;
    double transfer_seconds = 0;
    int busiest_host = 0;
    double busiest_bytes = 0;  ///< through its link, in the busier direction
};

/// The predicted time of one MPI exchange:
///
///     pieces (1 or 3) latency + max over hosts of max(bytes out, bytes in) 8 / bandwidth.
///
/// A message longer than most_sent_at_once crosses three times: request, answer, data. Bytes are
/// values, tags, 64 of Open MPI's header per message, and 66 of Ethernet, IP and TCP headers per
/// 1448. Processes of one host exchange at no cost.
/// @param host_of host of every process, numbered from 0 without gaps. Cost: the edges.
[[nodiscard]] ExchangeTime predict_exchange(const HostNetwork& network,
                                            const Graph& graph,
                                            const AgentBlocks& blocks,
                                            std::span<const int> host_of,
                                            const MessageFormat& format);

}  // namespace sotto
