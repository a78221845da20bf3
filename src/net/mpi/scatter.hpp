#pragma once

#include <string>
#include <vector>

#include "world.hpp"

namespace sotto {

/// @throws Error on process 0 unless there is one string per process. LOCAL.
void check_scatter(const MpiWorld& world, const std::vector<std::string>& to_processes);

/// Network::scatter, once the strings of process 0 are checked. COLLECTIVE.
[[nodiscard]] std::string scatter_strings(MpiWorld& world,
                                          const std::vector<std::string>& to_processes);

}  // namespace sotto
