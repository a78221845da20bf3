#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// sens2(C_time) = max_{j<b} sum_{s,t in {j, j+b, ...}} |(C_time^T C_time)_st| over the leading
/// `rounds` rounds; ceil(rounds/b) for the identity ([U] Theorem 8). With Poisson sampling, the
/// number of rounds of the longest pattern, times the squared length of the longest column if that
/// exceeds 1 by rounding. @throws ConfigError as require_separate_rounds.
[[nodiscard]] double temporal_sensitivity_squared(const TemporalFactor& factor,
                                                  const Participation& participation,
                                                  long rounds);

/// The same sum for each pattern {j, j + b, ...}, j < min(b, rounds).
[[nodiscard]] Eigen::VectorXd pattern_sensitivities_squared(const TemporalFactor& factor,
                                                            const Participation& participation,
                                                            long rounds);

/// Secretly sampled rounds are accounted one by one (docs/equations.md#secretly-sampled-rounds), so
/// no two rounds of one record may share noise, and none may be louder than alone: columns t and t
/// + b of C_time must share no row, and no column may be longer than 1. Independent rounds (Poisson
/// sampling, b = 1) may have noise of most_round_levels sizes instead. Does nothing without
/// sampling. Cost: O(T B), O(T^2) for a dense factor.
/// @throws ConfigError naming what is wrong and what is allowed.
void require_separate_rounds(const TemporalFactor& factor,
                             const Participation& participation,
                             long rounds);

/// Most sizes of noise that are accounted beside each other with Poisson sampling.
inline constexpr long most_round_levels = 64;
/// The sizes of noise of the leading `rounds` rounds, from quiet to loud, if rounds are
/// independent, their noise differs, and every record can take part in all; otherwise empty.
/// @throws PrivacyError if the factor covers fewer rounds.
[[nodiscard]] std::vector<RoundLevel> round_levels(const TemporalFactor& factor,
                                                   const Participation& participation,
                                                   long rounds);

/// max over patterns and rounds s of sum_{t in the pattern} |(C_time)_st|: an upper bound on how
/// far unit changes in all rounds of one pattern move the mean of the fresh noise of one round. 1
/// for the identity. Cost: O(T^2) for a dense factor, O(T B), O(T b) with one lag.
[[nodiscard]] double largest_round_shift(const TemporalFactor& factor,
                                         const Participation& participation,
                                         long rounds);

/// How a run uses its plan, as far as the guarantee against an observer of all messages depends on
/// it.
struct PlanUse {
    Participation participation;
    /// Matters if noise is added to messages. Its first round is that of the phase.
    StepSchedule steps;
    Eigen::VectorXd own_weights;  ///< w_uu of every agent; matters if noise depends on the receiver
    int gossip_steps = 1;         ///< K
};

/// Largest squared sensitivity of every agent's leading `rounds` rounds, for unit changes a
/// participation: the loss is loss_of_squared_distance(Delta_u^2 sens2_u observed_precision_u).
///
/// Noise on gradients, the same to all: temporal_sensitivity_squared. Otherwise one round shows
/// y(t) = s(t) + q(t), with s the message before noise, divided by the step where noise is on
/// gradients. With own-copy noise q_self = sum_v beta_v q_v,
///
///     s(t+1) = known + lambda_u s(t) - eta_{t+1} g(t+1),   lambda_u = w_uu (1 - sum_v beta_v),
///
/// so contributions accumulate: a unit change in the rounds of one pattern moves s(t) by at most
/// e_t = lambda e_{t-1} + eta_t [t in the pattern] ([H] eq. 27 for lambda = 1). sens2 is the
/// largest over patterns of sum_t e_t^2 (Gaussian) or (sum_t e_t)^2 (Laplace, L1 changes). Sound
/// for gradients that depend on messages: given the messages, s is a function of the data.
/// @return one value per agent.  Cost O(rounds cycle agents) at most.
/// @throws PrivacyError where no bound is known: temporal factors with such noise, or own-copy
/// noise that is not a function of what the others receive; ConfigError for more than one gossip
/// step with it.
[[nodiscard]] Eigen::VectorXd run_sensitivity_squared(const NoisePlan& plan,
                                                      const PlanUse& use,
                                                      long rounds);

/// The same for each participation pattern: agents x patterns, pattern p being rounds p, p + b, ...
/// of the whole run, p < min(b, first round + rounds). Rounds are those of one phase, from
/// use.steps.first_round on, where its temporal factor begins; contributions have accumulated since
/// the run began. Losses of phases with noise of their own compose by pattern.
[[nodiscard]] Eigen::MatrixXd pattern_sensitivity_squared(const NoisePlan& plan,
                                                          const PlanUse& use,
                                                          long rounds);

/// Upper bound, for every agent, on how far unit changes a participation move the mean of the fresh
/// noise of one round: largest_round_shift, or the largest e_t where contributions accumulate. In
/// units of 1 / sqrt(observed_precision_u). @throws as run_sensitivity_squared.
[[nodiscard]] Eigen::VectorXd largest_round_shifts(const NoisePlan& plan,
                                                   const PlanUse& use,
                                                   long rounds);

/// Largest variance of one coordinate of noise in any message of every agent; for plans on
/// gradients in squared gradient units.
[[nodiscard]] Eigen::VectorXd largest_message_variance(const NoisePlan& plan);

/// Colluding agents, and the agents whose messages they learn in one round.
struct SumExample {
    std::vector<int> colluders;  ///< ascending
    std::vector<int> exposed;    ///< ascending
    long round = 0;              ///< of the schedule's period
};

/// What secure sums hide from coalitions of up to `colluders` agents. The other members are
/// undefined unless `computed`.
struct SumsAgainst {
    int colluders = 1;
    bool computed = false;
    /// For every agent, the number of rounds of the period in which some such coalition has its
    /// message.
    std::vector<long> rounds_exposed;
    /// The smallest share of a message that stays hidden (LearntSums::hidden), over agents,
    /// coalitions and rounds.
    double least_hidden = 1;
    /// The fewest agents whose messages a combination of learnt sums contains; nothing if a
    /// coalition learns too many sums to tell.
    std::optional<int> smallest_sum;
    std::optional<SumExample> worst;  ///< one of those that learn most messages in one round

    /// Agents whose message is learnt in at least `rounds` rounds, ascending.
    [[nodiscard]] std::vector<int> exposed_in(long rounds) const;
};

/// What secure sums hide on a graph with its mixing schedule (docs/equations.md#secure-sums).
struct SumHiding {
    int agents = 0;
    long rounds = 1;  ///< of the schedule's period
    int gossip_steps = 1;
    int mask_partners = 1;             ///< on each side
    int asked = 1;                     ///< colluders that the sums must withstand
    std::vector<SumsAgainst> against;  ///< for 1, 2, ... colluders; includes `asked`
    /// The smallest coalition found that has a message, if none of those above has one.
    std::optional<SumExample> known;

    /// Whether every round has, for each agent, a coalition of `asked` with its message.
    [[nodiscard]] bool nothing() const;
};

/// The same with agents renumbered. @param numbers of all agents, ascending.
/// @param all number of agents of the run; those without a part are never exposed.
[[nodiscard]] SumHiding renumbered(SumHiding hiding, std::span<const int> numbers, int all);

/// For users: what a sum is, then a line for each number of colluders.
[[nodiscard]] std::vector<std::string> statements_of(const SumHiding& hiding);

/// @throws ConfigError if they hide nothing, with what to change.
void require_hiding(const SumHiding& hiding);

/// Why no agent's step moves two models further apart, so that partial views of a training have
/// guarantees (docs/equations.md#convex-trainings). Every agent enforces it for itself: every
/// training record with its constant feature is no longer than R, gradients are clipped so that
/// losses stay convex, and eta_t (beta + 2 l2) <= 2 in all planned rounds.
struct ConvexLosses {
    double feature_norm = 0;  ///< R
    double smoothness = 0;    ///< beta, the largest curvature of a record's loss
    double l2 = 0;            ///< regularisation
    double largest_step = 0;  ///< of all planned rounds

    /// The largest step that is allowed.
    [[nodiscard]] double most_step() const { return 2 / (smoothness + 2 * l2); }
    friend bool operator==(const ConvexLosses&, const ConvexLosses&) = default;
};

/// A paid round before a training, in which agents learn a sum over all records.
struct SurveyKind {
    std::string_view name;      ///< in run.json, and of the files of its plan and recordings
    std::string_view measures;  ///< in words
    double share = 0;           ///< of mu^2 that it spends at most
};
inline constexpr SurveyKind survey_of_moments{"moments", "means and deviations of columns", 0.05};
inline constexpr SurveyKind survey_of_norms{"norms", "norms of gradients", 0.02};
/// In the order in which they are carried out.
inline constexpr std::array survey_kinds{&survey_of_moments, &survey_of_norms};

/// Rounds under one noise plan with its own keys: from the start of a run, or from where it was
/// resumed, to where it ended or was lost.
struct PrivacyPhase {
    NoisePlan plan;                   ///< of places
    Membership members;               ///< agents that are present
    std::vector<double> sensitivity;  ///< Delta_u of every place
    /// q_u of every place with Poisson sampling; empty: 1 everywhere.
    std::vector<double> sampling_probability;
    PlanUse use;      ///< of places; begins at use.steps.first_round of the run
    long rounds = 0;  ///< whose messages may have been sent; the next phase may repeat some
    std::uint32_t key_epoch = 0;
    /// Session ids of the handshakes of all starts that sent messages in this phase, in order.
    /// Nobody chooses them, and no two are equal.
    std::vector<Digest> sessions{};
    const SurveyKind* survey = nullptr;  ///< of a paid round before the training; null: it trains

    /// q_u of a place.
    [[nodiscard]] double probability(int place) const {
        return sampling_probability.empty()
                   ? 1
                   : sampling_probability.at(static_cast<std::size_t>(place));
    }
};
/// A phase of all agents, from the first round on.
[[nodiscard]] PrivacyPhase first_phase(NoisePlan plan,
                                       std::span<const Exposure> exposures,
                                       PlanUse use,
                                       long rounds);

/// What happens in a training, as far as its guarantee depends on it. Ledger computes from it what
/// was revealed.
struct PrivacyRecord {
    std::vector<PrivacyPhase> phases;    ///< in order, at least one; the last is the current one
    std::vector<PrivacyBudget> budgets;  ///< of all agents of the run, by number, for the whole run
    Adjacency adjacency = Adjacency::agent;
    /// Column of tables whose values are persons: all records that an agent has of one are
    /// protected together. Empty: single records, or agents.
    std::string unit_column;
    int unit_agents = 1;  ///< K: persons may have records at up to so many agents
    long rounds = 0;      ///< planned rounds of the run
    long dimension = 0;   ///< values of a message; 0: unknown, and tails are not counted
    bool reproducible_noise = false;  ///< keys come from a noise seed, not the operating system
    /// "roster <digest>" if agents proved who they are, "unauthenticated" otherwise, empty for a
    /// plan that is not run yet.
    std::string authentication = "unauthenticated";
    std::optional<SumHiding> secure_sums;      ///< what they hide, if agents learn sums only
    std::optional<ConvexLosses> convex;        ///< if partial views count on it
    std::vector<std::string> more_statements;  ///< about how this run is carried out

    [[nodiscard]] const PrivacyPhase& now() const { return phases.back(); }
    /// The earlier phases; all their rounds were sent.
    [[nodiscard]] std::span<const PrivacyPhase> past() const {
        return std::span(phases).first(phases.size() - 1);
    }
    [[nodiscard]] int agents() const { return now().members.all; }
};

/// Whether the models that agents keep are functions of what the guarantee covers: of messages,
/// where an agent mixes the one it sends, or of the mean returned by a trusted aggregator. False if
/// the copy it keeps has a row of its own in the plan.
[[nodiscard]] bool models_follow_from_messages(const NoisePlan& plan);

/// Sentences a user must know: who is not protected and what is not covered, then more_statements.
[[nodiscard]] std::vector<std::string> statements_of(const PrivacyRecord& record);

}  // namespace sotto
