#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "net/mpi/world.hpp"

namespace sotto {

/// @throws Error unless every process has a receiver: a process, or -1 for nobody. LOCAL.
void check_receivers(const MpiWorld& world, std::span<const int> receivers);

/// Control::send_parcels with checked receivers and sizes. COLLECTIVE.
/// @param sizes of what each process sends.
[[nodiscard]] std::vector<std::string> send_parcels(MpiWorld& world,
                                                    const std::string& bytes,
                                                    std::span<const int> receivers,
                                                    std::span<const std::uint64_t> sizes);

}  // namespace sotto
