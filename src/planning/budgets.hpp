#pragma once

#include <Eigen/Core>
#include <Eigen/Dense>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "graph/topography.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

/// One budget per agent: the configured one, or from the budgets file (lines of "agent epsilon", or
/// of one epsilon in agent order; # comments). @throws ConfigError, DataError.
[[nodiscard]] std::vector<PrivacyBudget> build_budgets(const PlanConfig& config, int agents);

/// One exposure per agent, for independent rounds (see count_plan). @param records N_u of every
/// agent; empty: no data yet.  @throws ConfigError as agent_exposure.
[[nodiscard]] std::vector<Exposure> build_exposures(const SettledPlan& config,
                                                    int agents,
                                                    const std::vector<Eigen::Index>& records);

/// With Poisson sampling, converts these agents' budgets to rounds of their own probabilities
/// (sampled_budget). Cost: a tenth of a second for each distinct probability, and again for each
/// pattern with a different earlier loss.
/// @param spent in earlier phases, by place and participation pattern; empty: nothing.
/// @throws as sampled_budget.
void count_sampling(std::vector<PrivacyBudget>& budgets,
                    const std::vector<Exposure>& exposures,
                    const PlanConfig& config,
                    std::span<const int> agents,
                    const std::function<PrivacyLoss(int agent, long pattern)>& spent = {});

/// Exposures and budgets of all agents for independent rounds, from which a plan is made.
struct CountedRounds {
    std::vector<Exposure> exposures;
    std::vector<PrivacyBudget> budgets;
};
/// build_exposures, build_budgets and count_sampling for all agents of a new run. @throws as these.
[[nodiscard]] CountedRounds count_rounds(const SettledPlan& config,
                                         int agents,
                                         const std::vector<Eigen::Index>& records);

/// The noise of the configured mechanism.
[[nodiscard]] StreamDistribution configured_noise(const PlanConfig& config);
/// [R^-1]_uu of noise of this standard deviation.
[[nodiscard]] double precision_of_std(double noise_std, StreamDistribution noise);

/// How the configured run uses a plan.
[[nodiscard]] PlanUse plan_use(const PlanConfig& config, const MixingMatrix& mixing);

/// The same for the rounds of one plan.
struct CountedPlan : CountedRounds {};
/// Adapts exposures to how rounds of this plan depend on each other (run_sensitivity_squared), and
/// calibrates budgets for its noise. With --noise-std a budget is the loss of the configured noise.
/// @throws PrivacyError if the plan covers fewer rounds than are configured, or no bound is known;
/// ConfigError for Laplace noise with an adjacency of records, and for noise that depends on the
/// receiver if mixing changes.
[[nodiscard]] CountedPlan count_plan(const NoisePlan& plan,
                                     const SettledPlan& config,
                                     const Topography& topography,
                                     CountedRounds rounds);

/// An optimum with its certificate.
struct CertifiedOptimum {
    double value = 0;        ///< of noise within the budgets
    double lower_bound = 0;  ///< no noise within the budgets achieves less
    [[nodiscard]] double relative_gap() const { return (value - lower_bound) / value; }
};

/// Compares a plan with the best noise under any correlation between agents and rounds: an encoder
/// C of n T rows that need not be a product C_time (x) C_space ([U] Definition 11). Objectives are
/// Tr(H Sigma) of all models of all rounds at smallest kappa 1. No plan can have such noise,
/// because streams are combined by round and by agent.
struct UnrestrictedNoise {
    double plan = 0;         ///< of the plan
    CertifiedOptimum any;    ///< of any C
    CertifiedOptimum equal;  ///< of those C that reveal no round of an agent more than alone
    [[nodiscard]] double ratio() const { return plan / any.value; }
    [[nodiscard]] double ratio_of_equal() const { return plan / equal.value; }
};

/// Counts an observer of all messages, without the colluders that the plan also withstands. LOCAL.
/// @param kappa of every agent, as for the plan.
/// Cost: some tens of eigendecompositions of n T rows.
/// @throws ConfigError above most_joint_rows rows; without noise; for plans of a trusted
/// aggregator, noise on messages and sampled rounds, whose limits have another form; and with
/// momentum, which the objective omits.
[[nodiscard]] UnrestrictedNoise unrestricted_noise(const PlanConfig& config,
                                                   const Topography& topography,
                                                   const NoisePlan& plan,
                                                   const Eigen::VectorXd& kappa);

/// Lines of `sotto plan`.
[[nodiscard]] std::string text_of(const UnrestrictedNoise& noise);

}  // namespace sotto
