#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/config.hpp"
#include "sotto/agent/bootstrap.hpp"
#include "sotto/noise/mechanism.hpp"
#include "sotto/privacy/ledger.hpp"

namespace sotto {

/// The configured graph and mixing matrix, and what there is to say about how they came about.
struct BuiltTopography {
    Topography topography;
    std::string description;         ///< "erdos-renyi p=0.5 (seed 0)", "file x.edges"
    std::vector<std::string> notes;  ///< reductions and retries a user should know
};
/// @param rounds of the run: a random schedule draws as many graphs.
/// @throws ConfigError, DataError.
[[nodiscard]] BuiltTopography build_topography(const GraphConfig& config, long rounds);

/// Number of agents of the configured graph; reads its file where there is one.
[[nodiscard]] int agents_of(const GraphConfig& config);

/// One budget per agent: the configured one, or from the budgets file ("agent epsilon" a line, or
/// one epsilon a line in agent order; # comments). @throws ConfigError, DataError.
[[nodiscard]] std::vector<PrivacyBudget> build_budgets(const PlanConfig& config, int agents);

/// One exposure per agent, for independent rounds (see count_plan). @param records N_u of every
/// agent, or empty if there are no data yet.
[[nodiscard]] std::vector<Exposure> build_exposures(const PlanConfig& config,
                                                    int agents,
                                                    const std::vector<Eigen::Index>& records);

/// How the configured run uses a plan.
[[nodiscard]] PlanUse plan_use(const PlanConfig& config, const MixingMatrix& mixing);

/// Makes exposures count what rounds of this plan have to do with each other
/// (run_sensitivity_squared), and budgets pure exactly where its noise is Laplace.
/// @throws PrivacyError if the plan covers fewer rounds than are configured, or no bound is known;
/// ConfigError for Laplace noise with an adjacency of records, and for noise that depends on the
/// receiver where mixing changes.
void count_plan(const NoisePlan& plan,
                const PlanConfig& config,
                const Topography& topography,
                std::vector<Exposure>& exposures,
                std::vector<PrivacyBudget>& budgets);

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
};
/// @param compare false: without ldp_objective and cdp_objective, which cost O(n^3).
[[nodiscard]] PlannedNoise plan_noise(const PlanConfig& config,
                                      const Topography& topography,
                                      const std::vector<Exposure>& exposures,
                                      const std::vector<PrivacyBudget>& budgets,
                                      bool compare = true);

/// The JSON object of `sotto plan` (docs/cli.md), as text.
[[nodiscard]] std::string plan_report_json(const PlannedNoise& planned,
                                           const PlanConfig& config,
                                           const std::vector<Exposure>& exposures,
                                           const std::vector<PrivacyBudget>& budgets);
/// The same for people: budget, noise, what survives against ldp and cdp, who is not protected.
/// @param ledger of the run the plan is for; null: nobody runs it yet.
[[nodiscard]] std::string plan_report_text(const PlannedNoise& planned,
                                           const PlanConfig& config,
                                           const std::vector<Exposure>& exposures,
                                           const std::vector<PrivacyBudget>& budgets,
                                           const Ledger* ledger = nullptr);

}  // namespace sotto
