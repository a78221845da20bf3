#pragma once

#include <memory>

#include "net/network.hpp"

namespace sotto {

/// All agents in this process: for one machine without mpirun, sweeps, tests and audits.
/// Messages are passed by pointer; nothing is copied. @param threads for delivering, >= 1.
[[nodiscard]] std::unique_ptr<Network> make_memory_network(int agents, int threads);

}  // namespace sotto
