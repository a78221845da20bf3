#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "commands/doctor/doctor_check.hpp"

namespace sotto {

// Checks that ranks may run on this machine and get the memory they need. All LOCAL.

[[nodiscard]] Finding check_root(const Placement& placement);
[[nodiscard]] Finding check_cores(const Placement& placement);
[[nodiscard]] Finding check_yielding(const Placement& placement);
[[nodiscard]] Finding check_locked_memory(const Placement& placement);
[[nodiscard]] Finding check_shared_memory(const Placement& placement);
/// Looks for shared memory left behind by killed MPI jobs.
[[nodiscard]] Finding check_leftover_segments(const Placement& placement);

// Checks that there is room where a run writes. All LOCAL; they leave nothing behind.

[[nodiscard]] Finding check_temporary_directory(const Placement& placement);
[[nodiscard]] Finding check_run_directory(const Placement& placement);

/// Checks that files can be made in a folder and a run has room. @param fix what to do if not.
[[nodiscard]] Finding check_writable(const std::filesystem::path& folder, const std::string& fix);

/// Free space for this user; nothing if there is no such folder.
[[nodiscard]] std::optional<double> free_mib(const std::filesystem::path& folder);
/// "512 MiB", "12 GiB".
[[nodiscard]] std::string size_text(double mib);

// Checks that the program's libraries are there and compute correctly. All LOCAL.

[[nodiscard]] Finding check_program(const Placement& placement);
[[nodiscard]] Finding check_mpi_library(const Placement& placement);
[[nodiscard]] Finding check_eigen(const Placement& placement);
/// Computes the eigenvalues of a path's Laplacian, which must be 2 - 2 cos(pi k / n).
[[nodiscard]] Finding check_eigenvalues(const Placement& placement);
/// Names OpenBLAS's kernels, with advice if they use less than the processor offers.
[[nodiscard]] Finding check_blas_kernels(const Placement& placement);
[[nodiscard]] Finding check_blas_threads(const Placement& placement);
[[nodiscard]] Finding check_libsodium(const Placement& placement);
[[nodiscard]] Finding check_simd(const Placement& placement);
/// Checks the bits of noise: shared noise cancels only if all agents draw the same bits.
[[nodiscard]] Finding check_noise_bits(const Placement& placement);

}  // namespace sotto
