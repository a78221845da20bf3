#pragma once

#include <span>
#include <string>
#include <vector>

#include "commands/doctor/doctor_check.hpp"
#include "commands/doctor/rank_findings.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

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
