#pragma once

#include <span>
#include <string>
#include <vector>

#include "commands/doctor/doctor_check.hpp"

namespace sotto {

/// What one rank found.
struct RankFindings {
    Placement placement;
    std::vector<DoctorCheck> checks;
};

/// One list of checks for all ranks: a check is ok if it is ok on every rank (and, where it must
/// be, the same on every rank); otherwise `found` names ranks and hosts.
/// @param findings at least one, in rank order.  @throws DataError unless all have the same checks.
[[nodiscard]] std::vector<DoctorCheck> merge_findings(std::span<const RankFindings> findings);

/// For sending findings to rank 0. @throws DataError if the text is no such thing.
[[nodiscard]] std::string to_json(const RankFindings& findings);
[[nodiscard]] RankFindings findings_from_json(const std::string& text);

/// Ascending numbers: "0-3, 7".
[[nodiscard]] std::string ranges_text(const std::vector<int>& ascending);

}  // namespace sotto
