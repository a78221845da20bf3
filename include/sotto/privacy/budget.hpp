#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// The neighbouring relation, which determines the L2 sensitivity Delta of one participation.
enum class Adjacency {
    agent,             ///< all data of one agent replaced: Delta = 2C (batch gradient clipped to C)
    agent_zero_out,    ///< one agent's contribution zeroed: Delta = C
    record,            ///< one record replaced: Delta = 2C/B (each record's gradient clipped to C)
    record_zero_out,   ///< one record's contribution zeroed: Delta = C/B
    record_add_remove  ///< one record added or removed, divisor B unchanged: Delta = C/B
};
[[nodiscard]] std::vector<std::string> adjacency_names();
[[nodiscard]] Adjacency parse_adjacency(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(Adjacency adjacency);
/// Whether all data of an agent are protected at once and its contribution is clipped; otherwise
/// each record is.
[[nodiscard]] bool protects_agents(Adjacency adjacency);
/// What is protected, in words: "all data of an agent", "one record", or "all records of one PERSON
/// at one agent" with a column of persons; "at up to 2 agents" where persons may be at several.
[[nodiscard]] std::string protected_unit(Adjacency adjacency,
                                         const std::string& unit_column,
                                         int unit_agents = 1);
/// The options that ask for it: "--adjacency record-add-remove --unit-column PERSON --unit-agents
/// 2".
[[nodiscard]] std::string unit_options(Adjacency adjacency,
                                       const std::string& unit_column,
                                       int unit_agents = 1);

/// Rounds in which one record (or agent) can take part: all, or one in every cycle of `cycle`
/// rounds.
struct Participation {
    long cycle = 1;  ///< 1: every round
    /// In rounds where it can take part, a record does so with the same probability, by a coin that
    /// only its agent knows (SecretCoins).
    bool poisson = false;
    /// Above 1: random allocation. Of every epoch of so many rounds, counted from a phase's first
    /// round on, a record takes part in exactly one, which only its agent knows (SecretPlaces).
    long rounds_an_epoch = 1;

    [[nodiscard]] bool is_allocated() const { return rounds_an_epoch > 1; }
    /// Whether only its agent knows in which rounds a record takes part.
    [[nodiscard]] bool is_secret() const { return poisson || is_allocated(); }
    [[nodiscard]] bool operator==(const Participation&) const = default;
};
/// "every", "cyclic:b", "poisson", "cyclic-poisson:b" or "allocation:t". @throws ConfigError.
[[nodiscard]] Participation parse_participation(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const Participation& participation);

/// Largest b of "cyclic-poisson:b" for an agent: b q_u <= 1, where q_u = B / N_u, or as given if
/// the number of records is unknown (0). At least 1. @param batch_size from 1 to `records`.
[[nodiscard]] long largest_sampled_cycle(Eigen::Index batch_size,
                                         Eigen::Index records,
                                         std::optional<double> sampling_probability);

/// How much of one agent's input its messages can carry.
struct Exposure {
    double sensitivity = 0;  ///< Delta_u, one participation [gradient unit]; L1 under Laplace noise
    /// run_sensitivity_squared of the whole run; T where every round counts independently, and with
    /// random allocation the rounds of all epochs that begin.
    double sensitivity_squared_over_rounds = 0;
    Eigen::Index batch_size =
        0;  ///< divisor of the clipped sum (record adjacencies); 0: unknown (adjacency agent)
    /// b q_u of Poisson sampling, a multiple of 2^-53: probability that a record (or agent) takes
    /// part in a round where it can; 1: it always does.
    double sampling_probability = 1;
    long rounds_an_epoch = 1;  ///< Participation::rounds_an_epoch
    /// Of rounds whose noise differs (round_levels); empty: all are alike.
    std::vector<RoundLevel> levels{};
};

/// @param clip_norm C > 0.  @param records N_u, or 0 if unknown (then only `batch_size` counts).
/// @param batch_size B; none: all N_u records. It does not affect the sensitivity of adjacency
/// `agent`. With cyclic participation and known records, B_u = ceil(N_u/b) replaces it. With
/// Poisson sampling B is the expected batch size and the divisor of every batch: q_u = B / N_u, and
/// records of one of b parts in turn are drawn with b q_u, rounded down to a multiple of 2^-53.
/// With random allocation B_u = ceil(N_u/t) is the divisor of every batch, and q_u = 1/t.
/// With Poisson sampling and agent_zero_out the agent takes part with probability q and adds its
/// clipped gradient over q: Delta = C / q.
/// @param sampling_probability q_u of Poisson sampling if the records are unknown; q for agents;
/// rounded down likewise.
/// @throws ConfigError for: agent adjacencies with cyclic participation; Poisson sampling where
/// data are replaced (no dominating pair is proved) or b q_u > 1; a batch larger than the records
/// of a record adjacency; more batches than records; a record adjacency with both batch and records
/// unknown.
[[nodiscard]] Exposure agent_exposure(Adjacency adjacency,
                                      const Participation& participation,
                                      double clip_norm,
                                      long rounds,
                                      Eigen::Index records,
                                      std::optional<Eigen::Index> batch_size,
                                      std::optional<double> sampling_probability = std::nullopt);

/// How mu* is found from (epsilon, delta).
enum class Calibration {
    exact,  ///< the exact Gaussian-DP curve; least noise
    rdp,    ///< inverted Theorem 2 of [W], [C]
    paper   ///< [W] eq. 10b; refused where it misses its own target
};
[[nodiscard]] Calibration parse_calibration(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(Calibration calibration);

/// Limit on what may be learnt about one agent's neighbouring inputs. Valid by existing.
struct PrivacyBudget {
    double epsilon = 0;  ///< requested
    double delta = 0;    ///< 0 where the epsilon is pure
    Calibration calibration = Calibration::exact;
    StreamDistribution noise = StreamDistribution::gaussian;  ///< distribution it is calibrated for
    PrivacyLoss limit;                                        ///< largest loss that meets the
                                                              ///< budget under that noise
};
/// Budget for Gaussian noise; the limit is the calibration's mu.
/// @throws ConfigError unless epsilon is finite and > 0 and 0 < delta < 1, and for `paper` where
/// the exact epsilon of its mu exceeds the target.
[[nodiscard]] PrivacyBudget make_budget(double epsilon, double delta, Calibration calibration);
/// Budget for Laplace noise: the limit is epsilon itself, with delta 0.
/// @throws ConfigError unless epsilon > 0.
[[nodiscard]] PrivacyBudget make_pure_budget(double epsilon);
/// make_pure_budget for Laplace noise, otherwise the budget for Gaussian noise. @throws as both.
[[nodiscard]] PrivacyBudget make_budget(StreamDistribution noise,
                                        double epsilon,
                                        double delta,
                                        Calibration calibration);
/// `budget` if it is calibrated for this noise, otherwise a new one with its epsilon.
[[nodiscard]] PrivacyBudget budget_against(StreamDistribution noise,
                                           const PrivacyBudget& budget,
                                           double delta,
                                           Calibration calibration);
/// The budget that this loss under this noise spends. @param delta in (0, 1).
[[nodiscard]] PrivacyBudget budget_spent_by(const PrivacyLoss& loss,
                                            StreamDistribution noise,
                                            double delta);
/// Budget of agents without noise, hence without a guarantee.
[[nodiscard]] PrivacyBudget no_budget(double delta, Calibration calibration);

/// Loss to an observer with [R^-1]_uu = precision (loss_of_rounds).
[[nodiscard]] PrivacyLoss loss_of(StreamDistribution noise,
                                  const Exposure& exposure,
                                  double precision);
/// Remaining secretly sampled rounds of one participation pattern, and its loss so far.
struct SampledPattern {
    long rounds = 0;
    PrivacyLoss spent;
};
/// The same epsilon at the same delta, for secretly sampled rounds. The smallest noise multiplier
/// that keeps every pattern within budget, with what it has spent, is found (noise_multiplier_for);
/// the limit is the loss of the longest pattern with it.
/// @param kind of these rounds: their probability and rounds_an_epoch.  @param patterns not empty.
/// @throws ConfigError for a calibration that is not exact; PrivacyError if nothing is left.
[[nodiscard]] PrivacyBudget sampled_budget(PrivacyBudget budget,
                                           const SampledRounds& kind,
                                           std::span<const SampledPattern> patterns);
/// The same for one pattern.
[[nodiscard]] PrivacyBudget sampled_budget(PrivacyBudget budget,
                                           double sampling_probability,
                                           long rounds,
                                           const PrivacyLoss& spent = {});

/// The same for rounds whose noise differs (--noise-schedule), in one pattern.
[[nodiscard]] PrivacyBudget sampled_budget(PrivacyBudget budget,
                                           double sampling_probability,
                                           std::span<const RoundLevel> levels,
                                           const PrivacyLoss& spent = {});

/// "epsilon 10 at delta 1e-05, exact calibration: mu 1.2", "epsilon 3, pure"; "mu 2, of which 1.2
/// is left" for a resumed run. States what is allowed; a plan may use less.
[[nodiscard]] std::string text_of(const PrivacyBudget& budget);

/// kappa_u = mu_u^2 / (Delta_u^2 sens2_u): the largest [R^-1]_uu that keeps agent u within budget.
[[nodiscard]] double precision_limit(const PrivacyBudget& budget, const Exposure& exposure);

/// eta_t, t from 0: eta, eta / sqrt(t + 1), eta / (t + 1), 2 eta (1 - (t + 1/2) / T), or eta times
/// the factor of the last piece that has begun.
struct StepSchedule {
    enum class Kind { constant, inverse_sqrt, inverse, linear, piecewise };
    struct Piece {
        long round = 0;     ///< first round of the piece; before the first piece the factor is 1
        double factor = 1;  ///< > 0
    };
    Kind kind = Kind::constant;
    double step_size = 0.05;    ///< eta > 0
    std::vector<Piece> pieces;  ///< piecewise only; rounds ascend
    long first_round = 0;       ///< round of the run that is round 0 here
    /// T >= 1, linear only: the mean step of T rounds is eta. Later rounds have the step of the
    /// last.
    long rounds = 1;
    [[nodiscard]] double at(long round) const;
    /// Of every round.
    [[nodiscard]] std::vector<double> over(long rounds) const;
};
/// "constant", "inverse-sqrt", "inverse", "linear:T", "piecewise:ROUND:FACTOR,...". @throws
/// ConfigError.
[[nodiscard]] StepSchedule parse_step_schedule(std::string_view option,
                                               std::string_view text,
                                               double step_size);
/// Inverse of parse_step_schedule, without the step size.
[[nodiscard]] std::string name_of(const StepSchedule& schedule);

/// The guarantee of one agent against one observer.
struct Guarantee {
    PrivacyLoss loss;
    double delta = 0;    ///< of the budget
    double epsilon = 0;  ///< of the loss at that delta, certified from above; may be infinite
    [[nodiscard]] bool infinite() const { return loss.infinite(); }
    /// Whether less is revealed than by `other` at the same delta.
    [[nodiscard]] bool operator<(const Guarantee& other) const {
        return loss.less_at(delta, other.loss);
    }
};
[[nodiscard]] Guarantee guarantee_of(const PrivacyLoss& loss, double delta);
/// For messages that lie Delta_u sqrt(sens2_u precision_u) apart under the plan's noise
/// (loss_of_distance, stated_delta).
[[nodiscard]] Guarantee guarantee_of(const NoisePlan& plan, double distance, double delta);
/// The guarantee of one agent against an observer with `squared` = sens2_u precision_u; with
/// Poisson sampling, of sens2_u equal rounds (loss_of_rounds).
[[nodiscard]] Guarantee guarantee_of(const NoisePlan& plan,
                                     const Exposure& exposure,
                                     double squared,
                                     double delta);

/// The first guarantee that no other exceeds. @param all not empty.
[[nodiscard]] const Guarantee& largest(std::span<const Guarantee> all);

}  // namespace sotto
