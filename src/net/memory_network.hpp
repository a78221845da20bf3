#pragma once

#include <memory>

#include "net/network.hpp"

namespace sotto {

/// All agents in this process. Messages are passed by pointer, without copies.
/// @param threads for delivering, >= 1.
[[nodiscard]] std::unique_ptr<Network> make_memory_network(int agents, int threads);

}  // namespace sotto
