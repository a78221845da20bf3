#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "planning/planning.hpp"
#include "tasks/local_task.hpp"

namespace sotto {

/// A plan in one or two lines.
struct PlanWords {
    std::string plan;     ///< "pairs, 20 agents, 1000 rounds: epsilon 1 at delta 1e-05 for ..."
    std::string privacy;  ///< "one record, against ..."
    std::string noise;    ///< "variance 1.8 times that of a trusted server; ..."; empty if unknown
};
/// @param config settled.  @param budgets of the agents.  @param unit column of the units whose
/// records are protected together; empty: none.
[[nodiscard]] PlanWords plan_words(const PlannedNoise& planned,
                                   const PlanConfig& config,
                                   const std::vector<PrivacyBudget>& budgets,
                                   const std::string& unit = {});

/// The report of `sotto plan` and `sotto train` on a plan: budget, noise, remaining noise compared
/// with ldp and cdp, and who is not protected.
/// @param exposures, budgets from count_plan.  @param statements of the run's record
/// (statements_of), or of a plan without a run.
[[nodiscard]] std::string plan_report_text(const PlannedNoise& planned,
                                           const PlanConfig& config,
                                           const std::vector<Exposure>& exposures,
                                           const std::vector<PrivacyBudget>& budgets,
                                           const std::vector<std::string>& statements);

/// Noise and cost with other numbers of gossip steps; empty without planned.gossip_costs.
[[nodiscard]] std::string gossip_costs_text(const PlannedNoise& planned,
                                            const Topography& topography,
                                            long rounds,
                                            long dimension);

/// @throws ConfigError for local steps, or sampled agents, that mechanism, adjacency, participation
/// or clip do not allow; for gossip steps with a server.
void require_possible_updates(const PlanConfig& config);
/// @throws ConfigError for either with a task whose gradients are its data; for sampled agents with
/// padded rounds.
void require_possible_updates(const TrainConfig& config, const LocalTask& task);

}  // namespace sotto
