#pragma once

#include "commands/doctor/doctor_check.hpp"
#include "commands/doctor/placement.hpp"

namespace sotto {

// Does the machine let ranks run, and give them the memory they need? LOCAL, all of them.

[[nodiscard]] Finding check_root(const Placement& placement);
[[nodiscard]] Finding check_cores(const Placement& placement);
[[nodiscard]] Finding check_yielding(const Placement& placement);
[[nodiscard]] Finding check_locked_memory(const Placement& placement);
[[nodiscard]] Finding check_shared_memory(const Placement& placement);
/// Shared memory that MPI jobs left behind when they were killed.
[[nodiscard]] Finding check_leftover_segments(const Placement& placement);

}  // namespace sotto
