#pragma once

#include <string>
#include <vector>

#include "world.hpp"

namespace sotto {

/// Network::all_gather. COLLECTIVE.
[[nodiscard]] std::vector<std::string> all_gather_strings(MpiWorld& world,
                                                          const std::string& bytes);

}  // namespace sotto
