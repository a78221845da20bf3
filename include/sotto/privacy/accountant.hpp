#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// R = scale^2 F F^T, agents x agents: covariance across agents of one coordinate of one round.
[[nodiscard]] Eigen::MatrixXd spatial_covariance(const NoisePlan& plan);

/// An observer who sees all messages of all rounds, and the seeds and gradients of a coalition of
/// agents (empty: an eavesdropper). This is the view of every guarantee: gradients depend on the
/// past, and only with all messages seen does the state of every other agent follow from the view.
struct Observer {
    std::vector<int> coalition;  ///< ascending
};

/// R^(I): the part of R that the observer does not know, i.e. from streams whose seed no member of
/// its coalition holds; rows and columns of the coalition are zero (its own noise is known to it).
[[nodiscard]] Eigen::MatrixXd unknown_covariance(const NoisePlan& plan, const Observer& observer);

/// diag((R^(I))^-1): how sharply the observer sees one unit of each agent's gradient in one round
/// [1 / gradient unit^2]. Infinite where the unknown noise does not cover the agent (e_u outside
/// the range of R^(I): eigenvalues up to 1e-11 of the largest count as zero, components above 1e-9
/// as outside), and for the coalition itself. With a trusted mean the observer sees only the mean
/// (unless it holds the aggregator's seed): 1/(1^T R 1) for every agent. Cost O(n^3).
/// What rounds have to do with each other multiplies it, which exposures count
/// (run_sensitivity_squared). Noise that depends on the receiver: 1^T (Q Q^T)^+ 1 with Q the
/// coefficients of all an agent's messages, its own copy left out; Laplace noise: the squared
/// inverse scale. Both only for streams of one agent alone.
/// @throws PrivacyError for a plan this accountant cannot bound.
[[nodiscard]] Eigen::VectorXd observed_precision(const NoisePlan& plan, const Observer& observer);

/// Largest observed_precision of every agent over all coalitions of `size` agents it does not
/// belong to, each seeing all messages; size 0: the eavesdropper. A smaller coalition learns no
/// more. Cost: one observed_precision a coalition. @throws ConfigError as check_coalition_size.
[[nodiscard]] Eigen::VectorXd coalition_precision(const NoisePlan& plan, int size);

/// The guarantee of one agent against one observer, from its loss Delta_u sqrt(sens2_u
/// precision_u): mu under Gaussian noise, a pure epsilon under Laplace noise.
struct Guarantee {
    double mu = 0;       ///< may be infinite; not a number under Laplace noise
    double epsilon = 0;  ///< exact, at the budget's delta; may be infinite
    [[nodiscard]] bool infinite() const;
    [[nodiscard]] bool operator<(const Guarantee& other) const;
};
[[nodiscard]] Guarantee guarantee_of(const NoisePlan& plan, double loss, double delta);
[[nodiscard]] std::vector<Guarantee> guarantees(const NoisePlan& plan,
                                                const Observer& observer,
                                                std::span<const Exposure> exposures,
                                                double delta);

/// The same against the worst coalition of `size` other agents, for each agent.
[[nodiscard]] std::vector<Guarantee> coalition_guarantees(const NoisePlan& plan,
                                                          int size,
                                                          std::span<const Exposure> exposures,
                                                          double delta);

/// The pair (one curious agent, target) that leaks most: the largest mu over all coalitions of one
/// agent and all other agents. Cost: n eigendecompositions, unless a target without any unknown
/// noise is found first. Nothing for one agent.
struct CuriousAgent {
    int observer = 0;
    int target = 0;
    Guarantee guarantee;
};
[[nodiscard]] std::optional<CuriousAgent> worst_curious_agent(const NoisePlan& plan,
                                                              std::span<const Exposure> exposures,
                                                              double delta);

/// Checks that the plan keeps agents within their budgets against the eavesdropper, and against
/// every coalition of `coalition_size` other agents that also sees all messages, by recomputing
/// R^-1 from the plan's own coefficients; and that the grid of the noise is at most 2^-20 of their
/// conditional standard deviation. Every process calls it for its own agents before the first
/// round.
/// @param agents to check.  @param exposures, budgets one per agent of the network.
/// @throws PrivacyError with agent, mu and limit if it does not (1e-9 relative is forgiven).
void verify_agents_protected(const NoisePlan& plan,
                             std::span<const int> agents,
                             std::span<const Exposure> exposures,
                             std::span<const PrivacyBudget> budgets,
                             int coalition_size = 0);

}  // namespace sotto
