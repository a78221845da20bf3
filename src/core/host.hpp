#pragma once

#include <cstdint>
#include <string>

namespace sotto {

/// Name of this host. Works without starting MPI.
[[nodiscard]] std::string local_host_name();

/// Memory this process could still take: the smaller of MemAvailable and what a container's limit
/// leaves; 16 GiB if both are unknown.
[[nodiscard]] std::uint64_t available_memory_bytes();

}  // namespace sotto
