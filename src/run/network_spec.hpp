#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sotto/net/exchange_time.hpp"

namespace sotto {

/// A network that a dry run imagines between hosts.
struct NetworkSpec {
    double latency_seconds = 0;  ///< HostNetwork: half of what `ping` says
    double bits_per_second = 0;
    std::optional<int> hosts;  ///< none: as ranks really are; in one process every rank has one
    std::optional<int> ranks;  ///< none: those of the job; in one process every agent has one
    [[nodiscard]] HostNetwork between_hosts() const { return {latency_seconds, bits_per_second}; }
    [[nodiscard]] bool operator==(const NetworkSpec&) const = default;
};

/// "LATENCY:BANDWIDTH[:HOSTS[:RANKS]]": "10ms:100Mbit", "50us:25Gbit:100:10000". A latency is a
/// number, at least 0, and s, ms or us; a bandwidth is a number above 0 and bit, kbit, Mbit or Gbit
/// (a second; powers of 1000).
/// @throws ConfigError naming the option, the part and what is allowed.
[[nodiscard]] NetworkSpec parse_network(std::string_view option, std::string_view text);
/// Text that parse_network turns into the same network.
[[nodiscard]] std::string name_of(const NetworkSpec& spec);

}  // namespace sotto
