#pragma once

// Which processes share a run directory, and who keeps copies for whom; not installed.

#include <filesystem>
#include <string>
#include <vector>

#include "sotto/net/network.hpp"

namespace sotto {

/// For every process the lowest one that sees the same folder: that of a disk which they share.
/// COLLECTIVE. @param folder that is there on every process; for a moment it holds a file more for
/// each.  @param token of this start of the run, the same on all processes.
/// @throws ConfigError if a file cannot be made, NetworkError naming a rank whose word cannot be
/// true.
[[nodiscard]] std::vector<int> disks_of(const std::filesystem::path& folder,
                                        Network& network,
                                        const std::string& token);

/// For every process another one, on the next disk, which keeps copies of its files; evenly.
/// @param disks as disks_of gives them.  @return nothing where all share one disk.
[[nodiscard]] std::vector<int> keepers_on(const std::vector<int>& disks);

}  // namespace sotto
