#pragma once

#include <optional>
#include <vector>

#include "planning/planning.hpp"

namespace sotto {

/// What a plan is to be made for, or a given one is rated for: plan_noise() up to the design. It
/// points into the topography. @throws ConfigError for choices that exclude each other.
[[nodiscard]] DesignInput plan_input(const PlanConfig& config,
                                     const Topography& topography,
                                     const std::vector<Exposure>& exposures,
                                     const std::vector<PrivacyBudget>& budgets,
                                     const std::optional<NoisePlan>& given);

/// The plan of an input, solved, or the given one, rated; the rest of plan_noise().
[[nodiscard]] PlannedNoise planned_for(const DesignInput& input,
                                       const PlanConfig& config,
                                       std::optional<NoisePlan> given,
                                       bool compare);

}  // namespace sotto
