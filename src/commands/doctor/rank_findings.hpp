#pragma once

#include <span>
#include <string>
#include <vector>

#include "commands/doctor/doctor_check.hpp"

namespace sotto {

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

}  // namespace sotto
