#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// sens2(C_time) = max_{j<b} sum_{s,t in {j, j+b, ...}} |(C_time^T C_time)_st|, leading `rounds`
/// rounds; for the identity ceil(rounds/b). [U] Theorem 8. With Poisson sampling the number of
/// rounds of the longest pattern, times the squared length of the longest column where that
/// exceeds 1 by rounding. @throws ConfigError as require_separate_rounds.
[[nodiscard]] double temporal_sensitivity_squared(const TemporalFactor& factor,
                                                  const Participation& participation,
                                                  long rounds);

/// The same sum of every pattern {j, j + b, ...}, j < min(b, rounds), by itself.
[[nodiscard]] Eigen::VectorXd pattern_sensitivities_squared(const TemporalFactor& factor,
                                                            const Participation& participation,
                                                            long rounds);

/// Secretly sampled rounds are accounted for one by one: no two of one record may share noise, and
/// none may be louder than alone. So columns t and t + b of C_time share no row, and no column is
/// longer than 1; then a record's rounds are seen through rows of their own, each as the sampled
/// Gaussian mechanism of its batch (docs/equations.md 15).
/// @throws ConfigError otherwise, saying which, and what is allowed. Nothing without sampling.
/// Cost: O(T B), O(T^2) for a dense factor.
void require_separate_rounds(const TemporalFactor& factor,
                             const Participation& participation,
                             long rounds);

/// max over patterns and rounds s of sum_{t in the pattern} |(C_time)_st|: how far, at most, unit
/// changes in all rounds of one pattern move what the fresh noise of one round hides. 1 for the
/// identity. Cost: O(T^2) for a dense factor, O(T B), O(T b) with one lag.
[[nodiscard]] double largest_round_shift(const TemporalFactor& factor,
                                         const Participation& participation,
                                         long rounds);

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

/// Agents that pool what they receive in a round, and whose messages they then have.
struct SumExample {
    std::vector<int> colluders;  ///< ascending
    std::vector<int> exposed;    ///< ascending
    long round = 0;              ///< of the schedule's period
};

/// What secure sums hide from coalitions of up to so many agents. Nothing else is known where
/// `computed` is false.
struct SumsAgainst {
    int colluders = 1;
    bool computed = false;
    /// Of every agent, in how many rounds of the period some such coalition has its message.
    std::vector<long> rounds_exposed;
    /// The smallest share of a message that stays hidden (LearntSums::hidden), over agents,
    /// coalitions and rounds.
    double least_hidden = 1;
    /// The fewest agents whose messages a combination of learnt sums is made of; none where a
    /// coalition learns too many sums to tell.
    std::optional<int> smallest_sum;
    std::optional<SumExample> worst;  ///< one of those that have most messages in one round

    /// Whose message is had in at least so many rounds, ascending.
    [[nodiscard]] std::vector<int> exposed_in(long rounds) const;
};

/// What secure sums hide on a graph with its mixing schedule (docs/equations.md 10).
struct SumHiding {
    int agents = 0;
    long rounds = 1;  ///< of the schedule's period
    int gossip_steps = 1;
    int mask_partners = 1;             ///< on each side
    int asked = 1;                     ///< colluders that sums are to withstand
    std::vector<SumsAgainst> against;  ///< of 1, 2, ... colluders; `asked` is among them
    /// A coalition that has a message, where none of those above has: the smallest that was found.
    std::optional<SumExample> known;

    /// Whether in every round some coalition of `asked` has each agent's message.
    [[nodiscard]] bool nothing() const;
};

/// The same with agents called by these numbers. @param numbers of all agents, ascending.
/// @param all agents there are numbers for: those without a part are never exposed.
[[nodiscard]] SumHiding renumbered(SumHiding hiding, std::span<const int> numbers, int all);

/// For people: what a sum is, then a line on each number of colluders.
[[nodiscard]] std::vector<std::string> statements_of(const SumHiding& hiding);

/// @throws ConfigError where they hide nothing, saying what to change.
void require_hiding(const SumHiding& hiding);

/// Rounds under one noise plan, with keys of their own: from the beginning of a run, or from where
/// it was resumed, to where it ended or was lost.
struct PrivacyPhase {
    NoisePlan plan;                   ///< of places
    Membership members;               ///< who is there
    std::vector<double> sensitivity;  ///< Delta_u of every place
    /// q_u of every place with Poisson sampling; empty: 1 everywhere.
    std::vector<double> sampling_probability;
    PlanUse use;      ///< of places; begins at use.steps.first_round of the run
    long rounds = 0;  ///< whose messages may have left; the next phase may repeat some
    std::uint32_t key_epoch = 0;
    /// Ids of the starts that sent in it, in order: the session of the handshake of each, which
    /// nobody chooses and none has twice.
    std::vector<Digest> sessions{};

    /// q_u of a place.
    [[nodiscard]] double probability(int place) const {
        return sampling_probability.empty()
                   ? 1
                   : sampling_probability.at(static_cast<std::size_t>(place));
    }
};
/// A phase of everybody, from the first round on.
[[nodiscard]] PrivacyPhase first_phase(NoisePlan plan,
                                       std::span<const Exposure> exposures,
                                       PlanUse use,
                                       long rounds);

/// What happens in a training, as far as its guarantee depends on it. Whoever counts what it
/// revealed (Ledger) reads it; nothing is counted here.
struct PrivacyRecord {
    std::vector<PrivacyPhase> phases;    ///< in order, at least one; the last one is under way
    std::vector<PrivacyBudget> budgets;  ///< of all agents of the run, by number, for the whole run
    Adjacency adjacency = Adjacency::agent;
    long rounds = 0;     ///< the run is planned for
    long dimension = 0;  ///< values of a message; 0: not known, and tails are not counted
    bool reproducible_noise = false;  ///< keys come from a noise seed, not the operating system
    /// "roster <digest>" of a run whose agents proved who they are, "unauthenticated" of any other
    /// run, empty for a plan that nobody runs yet.
    std::string authentication = "unauthenticated";
    std::optional<SumHiding> secure_sums;      ///< what they hide, where agents learn sums only
    std::vector<std::string> more_statements;  ///< about how this run is carried out

    [[nodiscard]] const PrivacyPhase& now() const { return phases.back(); }
    /// The phases before; their rounds have all been sent.
    [[nodiscard]] std::span<const PrivacyPhase> past() const {
        return std::span(phases).first(phases.size() - 1);
    }
    [[nodiscard]] int agents() const { return now().members.all; }
};

/// Whether the models that agents keep are functions of what the guarantee is about: of messages,
/// where an agent mixes the one it sends, or of the mean that a trusted aggregator returns. Not
/// where the copy it keeps has a row of its own in the plan.
[[nodiscard]] bool models_follow_from_messages(const NoisePlan& plan);

/// Sentences a reader must know: who is not protected, and what is not covered; more_statements
/// stand last.
[[nodiscard]] std::vector<std::string> statements_of(const PrivacyRecord& record);

}  // namespace sotto
