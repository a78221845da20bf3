#pragma once

#include <Eigen/Dense>
#include <string>

#include "config/config.hpp"
#include "sotto/graph/topography.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// An optimum with its certificate.
struct CertifiedOptimum {
    double value = 0;        ///< of noise that is within the budgets
    double lower_bound = 0;  ///< no such noise leaves less
    [[nodiscard]] double relative_gap() const { return (value - lower_bound) / value; }
};

/// What a plan leaves beside the least that noise with any correlation between agents and rounds
/// leaves: an encoder C of n T rows that need not be a product C_time (x) C_space ([U] Definition
/// 11). Objectives Tr(H Sigma) of all models of all rounds, where the smallest kappa is 1. No plan
/// has such noise: streams are combined by round and by agent.
struct UnrestrictedNoise {
    double plan = 0;         ///< of the plan
    CertifiedOptimum any;    ///< of any C
    CertifiedOptimum equal;  ///< of those that show no round of an agent more than alone
    [[nodiscard]] double ratio() const { return plan / any.value; }
    [[nodiscard]] double ratio_of_equal() const { return plan / equal.value; }
};

/// Against somebody who sees all messages, whatever colluders the plan withstands besides. LOCAL.
/// @param kappa of every agent, as the plan was made for.
/// Cost: some tens of eigendecompositions of n T rows.
/// @throws ConfigError above most_joint_rows rows; without noise; for plans of a trusted
/// aggregator, noise on messages and sampled rounds, whose limits are not of this kind; and with
/// momentum, which the objective leaves out.
[[nodiscard]] UnrestrictedNoise unrestricted_noise(const PlanConfig& config,
                                                   const Topography& topography,
                                                   const NoisePlan& plan,
                                                   const Eigen::VectorXd& kappa);

/// For people, lines of `sotto plan`.
[[nodiscard]] std::string text_of(const UnrestrictedNoise& noise);

}  // namespace sotto
