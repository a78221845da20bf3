#pragma once

#include <string>
#include <string_view>

#include "config/config.hpp"

namespace sotto {

/// "LATENCY:BANDWIDTH[:HOSTS[:RANKS]]": "10ms:100Mbit", "50us:25Gbit:100:10000". A latency is a
/// number, at least 0, and s, ms or us; a bandwidth is a number above 0 and bit, kbit, Mbit or Gbit
/// (a second; powers of 1000).
/// @throws ConfigError naming the option, the part and what is allowed.
[[nodiscard]] NetworkSpec parse_network(std::string_view option, std::string_view text);
/// Text that parse_network turns into the same network.
[[nodiscard]] std::string name_of(const NetworkSpec& spec);

}  // namespace sotto
