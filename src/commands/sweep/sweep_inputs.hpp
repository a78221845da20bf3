#pragma once

#include <map>
#include <string>

#include "commands/sweep/sweep_config.hpp"

namespace sotto {

/// Digests, as hexadecimal digits, of the files that values of options name, by their names: data,
/// graphs, weights, plans; also several in one value, between commas. Cost: reads each file once.
[[nodiscard]] std::map<std::string, std::string> file_digests(const SweepConfig& config);

}  // namespace sotto
