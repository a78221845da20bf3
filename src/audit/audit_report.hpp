#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "audit/audit_result.hpp"

namespace sotto {

/// The JSON object of `sotto audit` (docs/cli.md), as text.
[[nodiscard]] std::string audit_report_json(const AuditResult& result);
/// The same for people.
[[nodiscard]] std::string audit_report_text(const AuditResult& result);

/// What AuditResult::json begins with (attack, mechanism, task, agents, rounds) and ends with
/// (findings, seed, seconds, run_directory).
[[nodiscard]] nlohmann::ordered_json run_json(const AuditResult& result);
void add_ending(nlohmann::ordered_json& json, const AuditResult& result);

/// Lines of a table of single agents.
inline constexpr std::size_t most_table_lines = 10;

/// Null where it is not finite.
[[nodiscard]] nlohmann::ordered_json number_json(double value);
/// "-" where it is not a number, "infinite" where it is that.
[[nodiscard]] std::string number_text(double value, int digits);
/// Distances of an agent from the nearest member; null and "-" without one (-1).
[[nodiscard]] nlohmann::ordered_json distance_json(int distance);
[[nodiscard]] std::string distance_text(int distance);

}  // namespace sotto
