#pragma once

#include <optional>
#include <vector>

#include "config/config.hpp"
#include "planning/budgets.hpp"
#include "planning/cycle_choice.hpp"
#include "planning/gossip_choice.hpp"
#include "planning/temporal_choice.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/graph/topography.hpp"

namespace sotto {

/// The mechanism that correlates agents: the mechanism itself, or the part of it that was chosen.
[[nodiscard]] const Mechanism& spatial_part(const PlanConfig& config);

/// Whether seeds are shared by groups: the mechanism does so, or they were chosen for one that can.
[[nodiscard]] bool shares_by_groups(const PlanConfig& config, const Mechanism& spatial);

/// Who may share a seed, as configured.
[[nodiscard]] std::vector<SeedGroup> configured_seed_groups(const PlanConfig& config,
                                                            const Graph& graph);

/// The plan of --plan FILE, if that is given. @throws DataError, PrivacyError naming the file, and
/// ConfigError where it is made for another number of agents.
[[nodiscard]] std::optional<NoisePlan> read_given_plan(const PlanConfig& config, int agents);

/// How many values a plan's temporal factor can have: one for every two of the run's rounds, where
/// the mechanism correlates them, or as many as the plan of --plan FILE has room for.
[[nodiscard]] double most_temporal_values(const PlanConfig& config);

/// How many colluding agents a run must withstand: as configured, or what the mechanism is made for
/// (never more than the other agents), or, with a plan file, what that plan says.
/// @throws ConfigError where the mechanism cannot protect against coalitions.
[[nodiscard]] int coalition_size_of(const PlanConfig& config, int agents, const NoisePlan* plan);

/// A plan with everything `sotto plan` says about it.
struct PlannedNoise {
    Design design;
    bool solved = true;           ///< false: read from a file
    bool kept = false;            ///< that file is of the run that goes on
    Utility utility;              ///< of the objectives; trajectory where rounds are correlated
    double seconds = 0;           ///< to solve
    double ldp_objective = 0;     ///< Tr(M R) of ldp, same budget and utility
    double cdp_objective = 0;     ///< of a trusted aggregator
    Eigen::VectorXd kappa;        ///< empty without a budget (mechanism none)
    CycleChoice cycle_choice;     ///< how b was chosen, where that was left to the plan
    ShapeChoice temporal_choice;  ///< how the temporal factor's shape was chosen, likewise
    GossipChoice gossip_choice;   ///< how K was chosen, likewise
    std::vector<GossipCandidate> gossip_costs;  ///< of other K, for people who plan
};
/// @param compare false: without ldp_objective and cdp_objective, which cost O(n^3).
[[nodiscard]] PlannedNoise plan_noise(const PlanConfig& config,
                                      const Topography& topography,
                                      const std::vector<Exposure>& exposures,
                                      const std::vector<PrivacyBudget>& budgets,
                                      bool compare = true);

/// The plan of a training of all agents from its first round on.
/// @param records of every agent; empty: not known.
[[nodiscard]] PlannedNoise plan_before_start(const PlanConfig& config,
                                             const Topography& topography,
                                             const std::vector<Eigen::Index>& records,
                                             bool compare);

}  // namespace sotto
