#pragma once

#include <optional>
#include <string>

#include "config/config.hpp"
#include "graph/topography.hpp"
#include "planning/budgets.hpp"
#include "planning/planning.hpp"
#include "privacy/person_loss.hpp"

namespace sotto {

/// What a plan reveals about persons with records at several agents.
struct PersonFigure {
    int agents = 1;          ///< K
    WorstPerson worst;       ///< with mu^2, or rounds / s^2 of sampled rounds
    Guarantee guarantee;     ///< of every such person, certified
    double probability = 1;  ///< joint_probability of a round, of sampled ones
};

/// @throws ConfigError as require_possible_persons.
void require_possible_persons(const PlanConfig& config, int agents);

/// Gives a plan that was solved, for persons at one agent, the noise with which the budgets hold
/// for persons at up to config.unit_agents: mu is inversely proportional to the noise. Objectives
/// are then of that noise, and those of independent noise and of a trusted aggregator of theirs for
/// such persons; the lower bound stays that of persons at one agent. Nothing happens to plans from
/// a file, with --noise-std, without noise, and for K = 1. LOCAL.
/// @param counted for which it was solved.  @throws as require_possible_persons and count_plan.
void hold_for_persons(PlannedNoise& planned,
                      const SettledPlan& config,
                      const Topography& topography,
                      const CountedRounds& counted);

/// The figure of a plan against everybody its plan withstands; none for K = 1 and without noise.
/// @param exposures from count_plan.  @throws as require_possible_persons.
[[nodiscard]] std::optional<PersonFigure> person_figure(const NoisePlan& plan,
                                                        const PlanConfig& config,
                                                        const std::vector<Exposure>& exposures,
                                                        double delta);

/// "epsilon 3.1 (mu 0.9) for a person with records at up to 2 agents; most at agents 3, 7".
[[nodiscard]] std::string text_of(const PersonFigure& figure);

}  // namespace sotto
