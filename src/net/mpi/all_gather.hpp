#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/mpi/world.hpp"

namespace sotto {

/// Sizes that all processes announce; check them before allocating. COLLECTIVE.
[[nodiscard]] std::vector<std::uint64_t> announced_sizes(MpiWorld& world, std::uint64_t own);

/// Control::all_gather with checked sizes. COLLECTIVE.
[[nodiscard]] std::vector<std::string> all_gather_strings(MpiWorld& world,
                                                          const std::string& bytes,
                                                          const std::vector<std::uint64_t>& sizes);

}  // namespace sotto
