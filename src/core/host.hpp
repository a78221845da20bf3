#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sotto {

/// Name of this host. Works without starting MPI.
[[nodiscard]] std::string local_host_name();

/// Memory this process could still take: the smaller of MemAvailable and what a container's limit
/// leaves; 16 GiB if both are unknown.
[[nodiscard]] std::uint64_t available_memory_bytes();

/// Numbers of the cores this thread may run on, ascending.
[[nodiscard]] std::vector<int> allowed_cores();

/// A container's limit on processor time, in cores, at least 1; nothing if there is none.
[[nodiscard]] std::optional<int> core_quota();

/// Threads that can compute at the same time, at least 1: the allowed cores, fewer if a container
/// limits processor time. The machine may have more cores (taskset, cpusets, ranks that mpirun
/// binds).
[[nodiscard]] int usable_processors();

}  // namespace sotto
