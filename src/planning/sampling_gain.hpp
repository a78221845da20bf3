#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// How many times less noise an agent adds to its gradients because its batches are sampled in
/// secret, than if each of its records counted in every round; the budget as count_sampling leaves
/// it, where nothing was spent before. Nothing where no epsilon was asked for.
[[nodiscard]] std::optional<double> sampling_gain(const PlanConfig& config,
                                                  const PrivacyBudget& budget);

/// How many times less noise it would add with --adjacency record-add-remove and --participation
/// poisson than as configured; of more than 1 000 000 rounds no more than that. Nothing where
/// these change nothing or are impossible.
/// @param exposure as configured.  @param records of the agent, at least its batch.
/// Cost: a tenth of a second, of a million rounds half a one.
[[nodiscard]] std::optional<double> gain_of_switching(const PlanConfig& config,
                                                      const PrivacyBudget& budget,
                                                      const Exposure& exposure,
                                                      Eigen::Index records);

/// The same in words, of the agent that gains least. Cost: as gain_of_switching.
/// @param records of every agent; empty: not known.
[[nodiscard]] std::vector<std::string> sampling_statements(
    const PlanConfig& config,
    const std::vector<Exposure>& exposures,
    const std::vector<PrivacyBudget>& budgets,
    const std::vector<Eigen::Index>& records);

}  // namespace sotto
