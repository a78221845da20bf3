#pragma once

#include <cstdint>
#include <string>

namespace sotto {

/// Name of this host. Unlike MPI's it can be asked for without starting MPI.
[[nodiscard]] std::string local_host_name();

/// Memory that this process could still take: what the kernel has free (MemAvailable), and what a
/// container's limit leaves; 16 GiB where neither says.
[[nodiscard]] std::uint64_t available_memory_bytes();

}  // namespace sotto
