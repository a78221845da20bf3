#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/mpi/world.hpp"

namespace sotto {

/// @throws Error on process 0 unless there is one string per process. LOCAL.
void check_scatter(const MpiWorld& world, const std::vector<std::string>& to_processes);

/// The size that process 0 announces for this one; check it before allocating. COLLECTIVE.
/// @param to_processes read on process 0 only, as below.
[[nodiscard]] std::uint64_t scattered_size(MpiWorld& world,
                                           const std::vector<std::string>& to_processes);

/// Control::scatter with checked strings and size. COLLECTIVE.
[[nodiscard]] std::string scatter_strings(MpiWorld& world,
                                          const std::vector<std::string>& to_processes,
                                          std::uint64_t size);

}  // namespace sotto
