#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "graph/topography.hpp"
#include "planning/budgets.hpp"
#include "planning/choices.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

/// The mechanism that correlates agents: the mechanism itself, or its chosen spatial part.
[[nodiscard]] const Mechanism& spatial_part(const PlanConfig& config);

/// Whether groups share seeds: the mechanism does so, or seed groups were chosen for one that can.
[[nodiscard]] bool shares_by_groups(const PlanConfig& config, const Mechanism& spatial);

/// The configured groups of agents that may share a seed.
[[nodiscard]] std::vector<SeedGroup> configured_seed_groups(const PlanConfig& config,
                                                            const Graph& graph);

/// The plan of --plan FILE, if given. @throws DataError, PrivacyError naming the file; ConfigError
/// if it is for another number of agents.
[[nodiscard]] std::optional<NoisePlan> read_given_plan(const PlanConfig& config, int agents);

/// Largest possible number of values in a plan's temporal factor: one for every two of the run's
/// rounds if the mechanism correlates them, or as many as fit into the file of --plan.
[[nodiscard]] double most_temporal_values(const PlanConfig& config);

/// Number of colluding agents that a run must withstand: as configured, or the mechanism's own
/// number (at most all other agents), or that of the plan file.
/// @throws ConfigError if the mechanism cannot protect against coalitions.
[[nodiscard]] int coalition_size_of(const PlanConfig& config, int agents, const NoisePlan* plan);

/// A plan with everything that `sotto plan` reports.
struct PlannedNoise {
    Design design;
    bool solved = true;        ///< false: read from a file
    bool kept = false;         ///< it is the plan of the continued phase
    Utility utility;           ///< of the objectives; trajectory if rounds are correlated
    double seconds = 0;        ///< to solve
    double laziness = 0;       ///< of a round's mixing (GossipPolynomial)
    double ldp_objective = 0;  ///< Tr(M R) of ldp, same budget and utility
    double cdp_objective = 0;  ///< of a trusted aggregator
    Eigen::VectorXd kappa;     ///< empty without a budget (mechanism none)
    PlanChoices choices;       ///< how open values were chosen
    std::vector<GossipCandidate> gossip_costs;  ///< of other K, for the user
};
/// @param compare false: without ldp_objective and cdp_objective, which cost O(n^3).
[[nodiscard]] PlannedNoise plan_noise(const SettledPlan& config,
                                      const Topography& topography,
                                      const CountedRounds& counted,
                                      bool compare = true);

/// Plans a training of all agents from its first round on. @param records of every agent; empty:
/// not known.
[[nodiscard]] PlannedNoise plan_before_start(const SettledPlan& config,
                                             const Topography& topography,
                                             const std::vector<Eigen::Index>& records,
                                             bool compare);

/// The input of plan_noise()'s design, or of the rating of a given plan. It points into the
/// topography. @throws ConfigError for choices that exclude each other.
[[nodiscard]] DesignInput plan_input(const SettledPlan& config,
                                     const Topography& topography,
                                     const CountedRounds& counted,
                                     const std::optional<NoisePlan>& given);

/// Solves the plan of an input, or rates the given one; the rest of plan_noise().
[[nodiscard]] PlannedNoise planned_for(const DesignInput& input,
                                       const SettledPlan& config,
                                       std::optional<NoisePlan> given,
                                       bool compare);

/// Objectives (see Design) of a plan if agents miss rounds, each with the same probability.
struct MissedRounds {
    double probability = 0;
    double nobody_missing = 0;  ///< of the plan, if no agent turns out to miss a round
    /// If participants publish the streams that they share with missing agents (recovered_noise).
    double published = 0;
    /// With missing agents, of the plan made for none missing; none if no plan is solved.
    std::optional<double> planned_without;
};
/// Text for the report.
[[nodiscard]] std::string text_of(const MissedRounds& missed);

/// @throws ConfigError for what has no known result with missed rounds: gossip steps, momentum,
/// averaging, mixing that changes or is push-sum, and all noise except independent noise per round
/// on gradients that agents mix themselves.
void require_possible_dropouts(const PlanConfig& config, const Topography& topography);

/// As plan_noise(), but agents miss every round with this probability (dropout_utility). It affects
/// all objectives except that of the trusted aggregator. @param probability above 0, below 1.
/// @throws ConfigError as plan_noise() and require_possible_dropouts().
[[nodiscard]] PlannedNoise plan_for_missed_rounds(const SettledPlan& config,
                                                  const Topography& topography,
                                                  const CountedRounds& counted,
                                                  double probability);

/// Figures of that plan. Cost: also solves the plan for none missing.
/// @throws ConfigError for a given plan with other noise.
[[nodiscard]] MissedRounds figures_of_dropouts(const PlannedNoise& planned,
                                               const SettledPlan& config,
                                               const Topography& topography,
                                               const CountedRounds& counted,
                                               double probability);

}  // namespace sotto
