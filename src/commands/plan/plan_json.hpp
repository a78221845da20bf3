#pragma once

#include <string>
#include <vector>

#include "run/planning.hpp"

namespace sotto {

/// The JSON object of `sotto plan` (docs/cli.md), as text.
/// @param exposures, budgets as count_plan counts them.
[[nodiscard]] std::string plan_report_json(const PlannedNoise& planned,
                                           const PlanConfig& config,
                                           const std::vector<Exposure>& exposures,
                                           const std::vector<PrivacyBudget>& budgets);

}  // namespace sotto
