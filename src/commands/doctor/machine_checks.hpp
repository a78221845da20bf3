#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "commands/doctor/doctor_check.hpp"

namespace sotto {

// Does the machine let ranks run, and give them the memory they need? LOCAL, all of them.

[[nodiscard]] Finding check_root(const Placement& placement);
[[nodiscard]] Finding check_cores(const Placement& placement);
[[nodiscard]] Finding check_yielding(const Placement& placement);
[[nodiscard]] Finding check_locked_memory(const Placement& placement);
[[nodiscard]] Finding check_shared_memory(const Placement& placement);
/// Shared memory that MPI jobs left behind when they were killed.
[[nodiscard]] Finding check_leftover_segments(const Placement& placement);

// Is there room where a run writes? LOCAL, all of them; nothing is left behind.

[[nodiscard]] Finding check_temporary_directory(const Placement& placement);
[[nodiscard]] Finding check_run_directory(const Placement& placement);

/// Can files be made in a folder, and is there room for a run? @param fix what to do if not.
[[nodiscard]] Finding check_writable(const std::filesystem::path& folder, const std::string& fix);

/// Space for this user; nothing where there is no such folder.
[[nodiscard]] std::optional<double> free_mib(const std::filesystem::path& folder);
/// "512 MiB", "12 GiB".
[[nodiscard]] std::string size_text(double mib);

// Is what this program is built from there, and does it compute what it should? LOCAL, all of them.

[[nodiscard]] Finding check_program(const Placement& placement);
[[nodiscard]] Finding check_mpi_library(const Placement& placement);
[[nodiscard]] Finding check_eigen(const Placement& placement);
/// Eigenvalues of the Laplacian of a path are known: 2 - 2 cos(pi k / n).
[[nodiscard]] Finding check_eigenvalues(const Placement& placement);
/// Names OpenBLAS's kernels; advice where they use less than the processor offers.
[[nodiscard]] Finding check_blas_kernels(const Placement& placement);
[[nodiscard]] Finding check_blas_threads(const Placement& placement);
[[nodiscard]] Finding check_libsodium(const Placement& placement);
[[nodiscard]] Finding check_simd(const Placement& placement);
/// Noise that agents share cancels only if all of them draw the same bits.
[[nodiscard]] Finding check_noise_bits(const Placement& placement);

}  // namespace sotto
