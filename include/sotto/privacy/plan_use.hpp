#pragma once

#include <Eigen/Core>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/exposure.hpp"
#include "sotto/privacy/step_schedule.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {

/// How a run uses its plan, as far as the guarantee against somebody who sees all messages depends
/// on it.
struct PlanUse {
    Participation participation;
    /// Counts where noise is added to messages; its first round is that of the phase in which the
    /// plan is used.
    StepSchedule steps;
    Eigen::VectorXd
        own_weights;       ///< w_uu of every agent; counts where noise depends on the receiver
    int gossip_steps = 1;  ///< K
};

/// The largest squared sensitivity of every agent's leading `rounds` rounds, for unit changes a
/// participation: the loss is loss_of_squared_distance(Delta_u^2 sens2_u observed_precision_u).
///
/// Noise on gradients, the same to all: sens2(C_time), see temporal_sensitivity_squared.
///
/// Otherwise one round shows y(t) = s(t) + q(t), with s the message before noise, divided by the
/// step where noise is on gradients. Given all messages, the agent's own copy of its message keeps
/// what the noise hid from the others: with own-copy noise q_self = sum_v beta_v q_v,
///
///     s(t+1) = known + lambda_u s(t) - eta_{t+1} g(t+1),   lambda_u = w_uu (1 - sum_v beta_v),
///
/// so contributions pile up: a unit change in the rounds of one pattern moves s(t) by at most
/// e_t = lambda e_{t-1} + eta_t [t in the pattern] ([H] eq. 27 for lambda = 1), and sens2 is the
/// largest over patterns of what the losses of distances e_t compose to: sum_t e_t^2 (Gaussian) or
/// (sum_t e_t)^2 (Laplace, L1 changes). The argument is sound for gradients that follow messages:
/// given the messages, s is a function of the data.
/// @return one value per agent.  Cost O(rounds cycle agents) at most.
/// @throws PrivacyError where no bound is known: temporal factors with such noise, or own-copy
/// noise that is not a function of what the others receive; ConfigError for gossip steps above 1
/// with it.
[[nodiscard]] Eigen::VectorXd run_sensitivity_squared(const NoisePlan& plan,
                                                      const PlanUse& use,
                                                      long rounds);

/// The same for every participation pattern by itself: agents x patterns, pattern p being rounds p,
/// p + b, ... of the whole run, p < min(b, first round + rounds). Rounds are those of one phase,
/// from use.steps.first_round on, whose temporal factor begins with it; contributions that pile up
/// have done so since the run began. Losses of phases with noise of their own compose by pattern.
[[nodiscard]] Eigen::MatrixXd pattern_sensitivity_squared(const NoisePlan& plan,
                                                          const PlanUse& use,
                                                          long rounds);

/// How far at most unit changes a participation move what the fresh noise of one round hides, for
/// every agent: largest_round_shift; the largest e_t where contributions pile up. In units of
/// 1 / sqrt(observed_precision_u). @throws as run_sensitivity_squared.
[[nodiscard]] Eigen::VectorXd largest_round_shifts(const NoisePlan& plan,
                                                   const PlanUse& use,
                                                   long rounds);

/// Largest variance of one coordinate of noise in any message of every agent; for plans on
/// gradients in squared gradient units.
[[nodiscard]] Eigen::VectorXd largest_message_variance(const NoisePlan& plan);

}  // namespace sotto
