#pragma once

#include <optional>

#include "net/mpi/world.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

/// The failure of the lowest failing process, on every process; nothing if none failed. COLLECTIVE.
[[nodiscard]] std::optional<Error> lowest_failure(MpiWorld& world,
                                                  const std::optional<Error>& local_failure);

}  // namespace sotto
