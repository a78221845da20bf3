#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "planning/planning.hpp"
#include "tasks/local_task.hpp"

namespace sotto {

/// A plan in words, for a line or two.
struct PlanWords {
    std::string plan;     ///< "pairs, 20 agents, 1000 rounds: epsilon 1 at delta 1e-05 for ..."
    std::string privacy;  ///< "one record, against ..."
    std::string noise;    ///< "1.8 times a trusted server's, ..."; empty where it is unknown
};
/// @param config settled.  @param budgets of the agents.  @param unit name of the column of units
/// whose records are protected together; empty: there is none.
[[nodiscard]] PlanWords plan_words(const PlannedNoise& planned,
                                   const PlanConfig& config,
                                   const std::vector<PrivacyBudget>& budgets,
                                   const std::string& unit = {});

/// What `sotto plan` and `sotto train` say about a plan, for people: budget, noise, what survives
/// against ldp and cdp, who is not protected.
/// @param exposures, budgets as count_plan counts them.  @param statements of the record of the run
/// (statements_of), or of a plan that nobody runs yet.
[[nodiscard]] std::string plan_report_text(const PlannedNoise& planned,
                                           const PlanConfig& config,
                                           const std::vector<Exposure>& exposures,
                                           const std::vector<PrivacyBudget>& budgets,
                                           const std::vector<std::string>& statements);

/// What other numbers of gossip steps would leave and cost; empty without planned.gossip_costs.
[[nodiscard]] std::string gossip_costs_text(const PlannedNoise& planned,
                                            const Topography& topography,
                                            long rounds,
                                            long dimension);

/// @throws ConfigError for local steps, or sampled agents, that the mechanism, the adjacency, the
/// participation or the clip do not leave; for gossip steps beside a server.
void require_possible_updates(const PlanConfig& config);
/// @throws ConfigError for either with a task whose gradients are its data; for sampled agents
/// whose rounds are padded.
void require_possible_updates(const TrainConfig& config, const LocalTask& task);

}  // namespace sotto
