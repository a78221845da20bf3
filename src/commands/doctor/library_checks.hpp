#pragma once

#include "commands/doctor/doctor_check.hpp"
#include "commands/doctor/placement.hpp"

namespace sotto {

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
