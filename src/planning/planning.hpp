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
    bool solved = true;        ///< false: read from a file
    bool kept = false;         ///< that file is of the run that goes on
    Utility utility;           ///< of the objectives; trajectory where rounds are correlated
    double seconds = 0;        ///< to solve
    double ldp_objective = 0;  ///< Tr(M R) of ldp, same budget and utility
    double cdp_objective = 0;  ///< of a trusted aggregator
    Eigen::VectorXd kappa;     ///< empty without a budget (mechanism none)
    PlanChoices choices;       ///< how what was left to the plan was chosen
    std::vector<GossipCandidate> gossip_costs;  ///< of other K, for people who plan
};
/// @param compare false: without ldp_objective and cdp_objective, which cost O(n^3).
[[nodiscard]] PlannedNoise plan_noise(const SettledPlan& config,
                                      const Topography& topography,
                                      const CountedRounds& counted,
                                      bool compare = true);

/// The plan of a training of all agents from its first round on.
/// @param records of every agent; empty: not known.
[[nodiscard]] PlannedNoise plan_before_start(const SettledPlan& config,
                                             const Topography& topography,
                                             const std::vector<Eigen::Index>& records,
                                             bool compare);

/// What a plan is to be made for, or a given one is rated for: plan_noise() up to the design. It
/// points into the topography. @throws ConfigError for choices that exclude each other.
[[nodiscard]] DesignInput plan_input(const SettledPlan& config,
                                     const Topography& topography,
                                     const CountedRounds& counted,
                                     const std::optional<NoisePlan>& given);

/// The plan of an input, solved, or the given one, rated; the rest of plan_noise().
[[nodiscard]] PlannedNoise planned_for(const DesignInput& input,
                                       const SettledPlan& config,
                                       std::optional<NoisePlan> given,
                                       bool compare);

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
[[nodiscard]] PlannedNoise plan_for_missed_rounds(const SettledPlan& config,
                                                  const Topography& topography,
                                                  const CountedRounds& counted,
                                                  double probability);

/// What that plan leaves. Cost: solves the plan for nobody missing, too.
/// @throws ConfigError for a given plan of other noise.
[[nodiscard]] MissedRounds figures_of_dropouts(const PlannedNoise& planned,
                                               const SettledPlan& config,
                                               const Topography& topography,
                                               const CountedRounds& counted,
                                               double probability);

}  // namespace sotto
