#pragma once

// Addresses of hosts, and the networks they share; not installed.

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sotto {

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

}  // namespace sotto
