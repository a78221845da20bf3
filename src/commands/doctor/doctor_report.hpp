#pragma once

#include <span>
#include <string>

#include "commands/doctor/rank_findings.hpp"

namespace sotto {

/// The report of `sotto doctor` (docs/cli.md), as JSON text and for people.
/// @param merged merge_findings(findings).
[[nodiscard]] std::string doctor_report_json(std::span<const RankFindings> findings,
                                             std::span<const DoctorCheck> merged);
[[nodiscard]] std::string doctor_report_text(std::span<const RankFindings> findings,
                                             std::span<const DoctorCheck> merged);

}  // namespace sotto
