#pragma once

#include <vector>

#include "run/budgets.hpp"
#include "run/config.hpp"
#include "sotto/graph/topography.hpp"
#include "sotto/noise/mechanism.hpp"

namespace sotto {

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

}  // namespace sotto
