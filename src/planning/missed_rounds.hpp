#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/planning.hpp"

namespace sotto {

/// What a plan leaves where agents miss rounds, each with the same probability. Objectives as of
/// Design.
struct MissedRounds {
    double probability = 0;
    double nobody_missing = 0;  ///< of the plan, where it turns out that none is
    /// Where those who are there publish the streams they share with the missing (recovered_noise).
    double published = 0;
    /// Where they are, of the plan that is made for nobody; none where no plan is solved.
    std::optional<double> planned_without;
};
/// For people.
[[nodiscard]] std::string text_of(const MissedRounds& missed);

/// @throws ConfigError where agents miss rounds and what is left then is not known: gossip steps,
/// momentum, means of models, mixing that changes or is push-sum, and all noise but independent
/// noise of rounds on gradients that agents mix themselves.
void require_possible_dropouts(const PlanConfig& config, const Topography& topography);

/// As plan_noise(), for agents that miss every round with this probability (dropout_utility): the
/// objectives count it, but that of the trusted aggregator. @param probability above 0, below 1.
/// @throws ConfigError as plan_noise() and require_possible_dropouts().
[[nodiscard]] PlannedNoise plan_for_missed_rounds(const PlanConfig& config,
                                                  const Topography& topography,
                                                  const std::vector<Exposure>& exposures,
                                                  const std::vector<PrivacyBudget>& budgets,
                                                  double probability);

/// What that plan leaves. Cost: solves the plan for nobody missing, too.
/// @throws ConfigError for a given plan of other noise.
[[nodiscard]] MissedRounds figures_of_dropouts(const PlannedNoise& planned,
                                               const PlanConfig& config,
                                               const Topography& topography,
                                               const std::vector<Exposure>& exposures,
                                               const std::vector<PrivacyBudget>& budgets,
                                               double probability);

}  // namespace sotto
