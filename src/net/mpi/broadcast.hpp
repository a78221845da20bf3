#pragma once

#include <cstdint>
#include <string>

#include "net/mpi/world.hpp"

namespace sotto {

/// How many bytes process `root` announces, on every process; they are to be checked before memory
/// is taken for them. COLLECTIVE.  @param own of this process.
[[nodiscard]] std::uint64_t size_at(MpiWorld& world, int root, std::uint64_t own);

/// `bytes` of process `root` on every process, where it has its size already. COLLECTIVE.
void broadcast_known(MpiWorld& world, int root, std::string& bytes);

}  // namespace sotto
