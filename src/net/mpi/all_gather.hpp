#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/mpi/world.hpp"

namespace sotto {

/// How many bytes every process announces; they are to be checked before memory is taken for them.
/// COLLECTIVE.  @param own of this process.
[[nodiscard]] std::vector<std::uint64_t> announced_sizes(MpiWorld& world, std::uint64_t own);

/// Network::all_gather, once sizes are checked. COLLECTIVE.
[[nodiscard]] std::vector<std::string> all_gather_strings(MpiWorld& world,
                                                          const std::string& bytes,
                                                          const std::vector<std::uint64_t>& sizes);

}  // namespace sotto
