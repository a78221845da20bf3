#pragma once

#include <Eigen/Dense>
#include <span>
#include <string_view>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

// Persons with records at several agents. All contributions of a person's agents S may change at
// once. An observer of all messages, with the seeds and gradients of a coalition I outside S, then
// learns about the person in a whole run as much as from one Gaussian observation of
//
//     mu^2 = max sum over u, v in S of [(R^(I))^-1]_uv <g_u, g_v>,  |g_u| <= s_u,
//     s_u = Delta_u sqrt(sens2_u),
//
// at most (docs/equations.md#persons-at-several-agents): g_u stands for C_time times what u
// contributes over the rounds, in whichever direction and rounds. For one agent that is today's
// figure, for two [R^-1]_uu s_u^2 + [R^-1]_vv s_v^2 + 2 |[R^-1]_uv| s_u s_v; for more it is bounded
// from both sides (TightBounds), and the sum of absolute values is an upper bound.

/// Which persons to look for.
struct PersonQuery {
    int agents = 1;         ///< K >= 1: a person has records at up to so many agents
    Eigen::VectorXd reach;  ///< s_u of every agent, 0 or more
    /// Above 0: the largest form that the budget of every agent allows, of which the smallest of a
    /// person's agents counts; infinite: this agent sets no limit. Empty: 1 for everybody.
    Eigen::VectorXd allowed;
};

/// The worst person for this (R^(I))^-1. Sets of up to two agents are all tried, and larger ones up
/// to `most_person_sets`; above, the bound is the sum of the K largest rows, of which each has its
/// diagonal and its K - 1 largest other entries in absolute value, and the set is found by adding
/// and then exchanging single agents. Cost: n^2 K, or that of the sets.
/// @param precision of the agents in `outside`, in their order; an infinite diagonal: the agent has
/// no noise.
[[nodiscard]] WorstPerson worst_person(const Eigen::MatrixXd& precision,
                                       std::span<const int> outside,
                                       const PersonQuery& query);
/// Most sets of three or more agents that are tried.
inline constexpr double most_person_sets = 2e6;

/// The worst person over these coalitions that see all messages. Of more than 2000 agents
/// (most_dense_agents), and for so many coalitions that inverting every R^(I) would take minutes,
/// only diagonals are computed, and mu of a set is bounded by the sum of its agents' mu: then
/// `reached` is that of one agent. Cost: an eigendecomposition a coalition.
/// @param coalitions ascending members; {} is the eavesdropper.
/// @throws PrivacyError as observed_precision.
[[nodiscard]] WorstPerson worst_person(const NoisePlan& plan,
                                       std::span<const std::vector<int>> coalitions,
                                       const PersonQuery& query);
/// The same over all coalitions of `size` agents, and of fewer where K and `size` together are more
/// than all agents. @throws also as coalition_precision.
[[nodiscard]] WorstPerson worst_person(const NoisePlan& plan, int size, const PersonQuery& query);

/// (R^(I))^-1 of the agents outside the coalition, in their order [1 / gradient unit^2]: its
/// diagonal is observed_precision. Agents without unknown noise have an infinite diagonal and zeros
/// beside it. Noise for single receivers is independent between agents; of a trusted mean all
/// entries are equal. Cost O(n^3).
/// @throws PrivacyError as observed_precision.
[[nodiscard]] Eigen::MatrixXd observed_precision_matrix(const NoisePlan& plan,
                                                        std::span<const int> coalition);

/// s_u = Delta_u sqrt(sens2_u).
[[nodiscard]] Eigen::VectorXd reach_of(std::span<const Exposure> exposures);

/// Probability that a round has a person's records at one of its agents at least, at most: 1 - prod
/// (1 - q_u) over the K largest probabilities, rounded up; 1 if nothing is sampled.
[[nodiscard]] double joint_probability(std::span<const Exposure> exposures, int agents);

/// The loss for mu^2 = `squared`; with Poisson sampling, of rounds that each have something of the
/// person with the joint probability, and then at most sqrt(squared / rounds)
/// (docs/equations.md#persons-at-several-agents).
[[nodiscard]] PrivacyLoss loss_of_person(const NoisePlan& plan,
                                         std::span<const Exposure> exposures,
                                         int agents,
                                         double squared);
/// Its guarantee.
[[nodiscard]] Guarantee guarantee_of_person(const NoisePlan& plan,
                                            std::span<const Exposure> exposures,
                                            int agents,
                                            double squared,
                                            double delta);

/// Exposures of the places of a phase after so many of its rounds; nothing is exposed in none.
/// @throws as run_sensitivity_squared.
[[nodiscard]] std::vector<Exposure> exposures_of(const PrivacyPhase& phase, long rounds);

/// PersonQuery::allowed from every agent's budget: the largest mu^2 (rounds / s^2 of sampled
/// rounds, at the joint probability) within it.
/// @param budgets calibrated for the plan's noise.  @throws as sampled_budget.
[[nodiscard]] Eigen::VectorXd allowed_for_persons(std::span<const Exposure> exposures,
                                                  std::span<const PrivacyBudget> budgets,
                                                  int agents);

/// How many times more mu^2 (times less noise variance) the worst person has than is allowed,
/// against every coalition of `size` agents.
[[nodiscard]] WorstPerson share_of_persons(const NoisePlan& plan,
                                           std::span<const Exposure> exposures,
                                           std::span<const PrivacyBudget> budgets,
                                           int size,
                                           int agents);

/// Lets an agent's process check the plan for persons with records at its agents and others.
/// @throws PrivacyError naming agents, mu and what is allowed (1e-9 relative is tolerated).
void verify_persons_protected(const NoisePlan& plan,
                              std::span<const int> local,
                              std::span<const Exposure> exposures,
                              std::span<const PrivacyBudget> budgets,
                              int size,
                              int agents);

/// @throws ConfigError naming `option` for K > 1 with more agents than there are, with Laplace
/// noise, with random allocation, and with records dealt into parts that are sampled
/// (cyclic-poisson:b, b > 1), of which nothing is proved here.
void require_possible_persons(std::string_view option,
                              int unit_agents,
                              int agents,
                              StreamDistribution noise,
                              const Participation& participation);

}  // namespace sotto
