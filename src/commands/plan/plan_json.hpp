#pragma once

#include <optional>
#include <string>
#include <vector>

#include "account/published_bound.hpp"
#include "planning/budgets.hpp"
#include "planning/planning.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

/// The JSON object of `sotto plan` (docs/cli.md), as text.
/// @param exposures, budgets from count_plan.  @param sums, bounds, missed, unrestricted as in
/// MadePlan.
[[nodiscard]] std::string plan_report_json(
    const PlannedNoise& planned,
    const PlanConfig& config,
    const std::vector<Exposure>& exposures,
    const std::vector<PrivacyBudget>& budgets,
    const std::optional<SumHiding>& sums = {},
    const std::vector<TrainingBoundFigure>& bounds = {},
    const std::optional<MissedRounds>& missed = {},
    const std::optional<UnrestrictedNoise>& unrestricted = {});

}  // namespace sotto
