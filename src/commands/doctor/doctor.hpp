#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands/doctor/doctor_check.hpp"
#include "sotto/core/names.hpp"

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

/// The findings of one rank.
struct RankFindings {
    Placement placement;
    std::vector<DoctorCheck> checks;
};

/// Merges the checks of all ranks. A check is ok if it is ok on every rank and, with must_agree,
/// the same on every rank; else `found` names ranks and hosts.
/// @param findings at least one, in rank order.  @throws DataError unless all have the same checks.
[[nodiscard]] std::vector<DoctorCheck> merge_findings(std::span<const RankFindings> findings);

/// Encode and decode findings, to send them to rank 0. @throws DataError for a malformed text.
[[nodiscard]] std::string to_json(const RankFindings& findings);
[[nodiscard]] RankFindings findings_from_json(const std::string& text);

/// Ascending numbers: "0-3, 7".
[[nodiscard]] std::string ranges_text(const std::vector<int>& ascending);

/// A check that one process can make by itself.
struct CheckRecord {
    std::string name;  ///< as DoctorCheck::name
    Finding (*make)(const Placement&) = nullptr;
    bool must_agree = false;  ///< as DoctorCheck::must_agree
};

/// All such checks, in the order of the report: libraries, limits, shared memory, cores, folders.
[[nodiscard]] const Registry<CheckRecord>& machine_checks();

/// Makes all checks and leaves nothing behind. A check that cannot be made has failed. LOCAL.
[[nodiscard]] std::vector<DoctorCheck> check_machine(const Placement& placement);

/// The report of `sotto doctor`: JSON (docs/cli.md), and text.
/// @param merged merge_findings(findings).
[[nodiscard]] std::string doctor_report_json(std::span<const RankFindings> findings,
                                             std::span<const DoctorCheck> merged);
[[nodiscard]] std::string doctor_report_text(std::span<const RankFindings> findings,
                                             std::span<const DoctorCheck> merged);

}  // namespace sotto
