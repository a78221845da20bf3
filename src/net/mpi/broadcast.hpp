#pragma once

#include <cstdint>
#include <string>

#include "net/mpi/world.hpp"

namespace sotto {

/// The size that process `root` announces, on every process; check it before allocating.
/// COLLECTIVE.
[[nodiscard]] std::uint64_t size_at(MpiWorld& world, int root, std::uint64_t own);

/// `bytes` of process `root` on every process, where it already has its size. COLLECTIVE.
void broadcast_known(MpiWorld& world, int root, std::string& bytes);

}  // namespace sotto
