#pragma once

#include <string>

#include "commands/sweep/sweep_config.hpp"
#include "commands/sweep/sweep_result.hpp"

namespace sotto {

/// The JSON object of `sotto sweep` (docs/cli.md), as text, and a table for people.
[[nodiscard]] std::string sweep_report_json(const SweepConfig& config, const SweepResult& result);
[[nodiscard]] std::string sweep_report_text(const SweepConfig& config, const SweepResult& result);

}  // namespace sotto
