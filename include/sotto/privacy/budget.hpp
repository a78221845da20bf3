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

/// What "neighbouring" means, hence the L2 sensitivity Delta of one participation.
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
/// Whether all data of an agent are protected at once, and its contribution is clipped; else one
/// record, and every record's.
[[nodiscard]] bool protects_agents(Adjacency adjacency);

/// In which rounds one record (or agent) can take part: all rounds, or one round in every cycle of
/// `cycle` rounds.
struct Participation {
    long cycle = 1;  ///< 1: every round
    /// In the rounds in which a record can take part, it does so with the same probability, decided
    /// by a coin that nobody but its agent knows (SecretCoins).
    bool poisson = false;
    [[nodiscard]] bool operator==(const Participation&) const = default;
};
/// "every", "cyclic:b", "poisson" or "cyclic-poisson:b". @throws ConfigError.
[[nodiscard]] Participation parse_participation(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const Participation& participation);

/// The largest b of "cyclic-poisson:b" of an agent: b q_u is at most 1, q_u = B / N_u, or as given
/// where the records are unknown (0). At least 1. @param batch_size from 1 to `records`.
[[nodiscard]] long largest_sampled_cycle(Eigen::Index batch_size,
                                         Eigen::Index records,
                                         std::optional<double> sampling_probability);

/// How much of one agent's input its messages can carry.
struct Exposure {
    double sensitivity = 0;  ///< Delta_u, one participation [gradient unit]; L1 under Laplace noise
    /// run_sensitivity_squared of the whole run; T where every round counts and none meets another.
    double sensitivity_squared_over_rounds = 0;
    Eigen::Index batch_size =
        0;  ///< divisor of the clipped sum (record adjacencies); 0: unknown (adjacency agent)
    /// b q_u of Poisson sampling, a multiple of 2^-53: of a record (or agent) in a round in which
    /// it can take part; 1: it is there whenever it can be.
    double sampling_probability = 1;
};

/// @param clip_norm C > 0.  @param records N_u of the agent, or 0 if unknown (then only
/// `batch_size` counts).  @param batch_size B; none: all N_u records of the agent. It changes no
/// sensitivity with adjacency `agent`, and is replaced by B_u = ceil(N_u/b) with cyclic
/// participation and known records. With Poisson sampling B is the expected size of a batch, and
/// its divisor whatever is drawn: q_u = B / N_u, and records are drawn with b q_u, rounded down to
/// a multiple of 2^-53, from one of b parts in turn.
/// With Poisson sampling and adjacency agent_zero_out the agent takes part with probability q, and
/// adds its clipped gradient over q: Delta = C / q.
/// @param sampling_probability q_u of Poisson sampling where the records are unknown; of agents q,
/// rounded down likewise.
/// @throws ConfigError: adjacencies of agents with cyclic participation; Poisson sampling where
///         data are replaced (no dominating pair is proved for it), and where b q_u would
///         exceed 1; batch larger than the
///         records of a record adjacency; more batches than records; a record adjacency where both
///         batch and records are unknown.
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

/// What may be learnt about one agent's neighbouring inputs. Valid by existing.
struct PrivacyBudget {
    double epsilon = 0;  ///< requested
    double delta = 0;    ///< 0 where the epsilon is pure
    Calibration calibration = Calibration::exact;
    StreamDistribution noise = StreamDistribution::gaussian;  ///< it is calibrated for
    PrivacyLoss limit;                                        ///< what meets it under that noise
};
/// Against Gaussian noise: the limit is the calibration's mu.
/// @throws ConfigError unless epsilon is finite and > 0 and 0 < delta < 1 (NaN fails), and for
///         `paper` where the exact epsilon of its mu exceeds the target.
[[nodiscard]] PrivacyBudget make_budget(double epsilon, double delta, Calibration calibration);
/// Against Laplace noise: the limit is the epsilon itself, with delta 0 and nothing to calibrate.
/// @throws ConfigError unless epsilon > 0.
[[nodiscard]] PrivacyBudget make_pure_budget(double epsilon);
/// Against this noise. @throws as both.
[[nodiscard]] PrivacyBudget make_budget(StreamDistribution noise,
                                        double epsilon,
                                        double delta,
                                        Calibration calibration);
/// The budget as it is if it is calibrated for this noise, otherwise a new one of its epsilon.
[[nodiscard]] PrivacyBudget budget_against(StreamDistribution noise,
                                           const PrivacyBudget& budget,
                                           double delta,
                                           Calibration calibration);
/// What this loss, caused by this noise, spends. @param delta strictly between 0 and 1.
[[nodiscard]] PrivacyBudget budget_spent_by(const PrivacyLoss& loss,
                                            StreamDistribution noise,
                                            double delta);
/// Of agents that are promised nothing, because no noise is added.
[[nodiscard]] PrivacyBudget no_budget(double delta, Calibration calibration);

/// What exposures allow somebody to learn who knows [R^-1]_uu = precision (loss_of_rounds).
[[nodiscard]] PrivacyLoss loss_of(StreamDistribution noise,
                                  const Exposure& exposure,
                                  double precision);
/// Secretly sampled rounds to come of one participation pattern, and what was spent in it before.
struct SampledPattern {
    long rounds = 0;
    PrivacyLoss spent;
};
/// The same epsilon at the same delta, for secretly sampled rounds: the limit is that of the
/// longest pattern with the smallest noise multiplier which keeps every pattern, together with what
/// was spent in it, within it (noise_multiplier_for, for each pattern that differs).
/// @param sampling_probability in each of these rounds.  @param patterns not empty.
/// @throws ConfigError for a calibration that is not exact; PrivacyError if nothing is left.
[[nodiscard]] PrivacyBudget sampled_budget(PrivacyBudget budget,
                                           double sampling_probability,
                                           std::span<const SampledPattern> patterns);
/// Of one pattern.
[[nodiscard]] PrivacyBudget sampled_budget(PrivacyBudget budget,
                                           double sampling_probability,
                                           long rounds,
                                           const PrivacyLoss& spent = {});

/// "epsilon 10 at delta 1e-05, exact calibration: mu 1.2", "epsilon 3, pure": what is allowed, and
/// the parameter of its limit ("mu 2, of which 1.2 is left" of a run that is resumed). What a plan
/// reaches may be less.
[[nodiscard]] std::string text_of(const PrivacyBudget& budget);

/// kappa_u = mu_u^2 / (Delta_u^2 sens2_u): the largest [R^-1]_uu that keeps agent u within budget.
[[nodiscard]] double precision_limit(const PrivacyBudget& budget, const Exposure& exposure);

/// eta_t, t from 0: constant eta, eta / sqrt(t + 1), eta / (t + 1), or eta times the factor of the
/// last piece that has begun.
struct StepSchedule {
    enum class Kind { constant, inverse_sqrt, inverse, piecewise };
    struct Piece {
        long round = 0;     ///< first round it counts for; before the first piece the factor is 1
        double factor = 1;  ///< > 0
    };
    Kind kind = Kind::constant;
    double step_size = 0.05;    ///< eta > 0
    std::vector<Piece> pieces;  ///< piecewise only; rounds ascend
    long first_round = 0;       ///< of the run that round 0 here is
    [[nodiscard]] double at(long round) const;
    /// Of every round.
    [[nodiscard]] std::vector<double> over(long rounds) const;
};
/// "constant", "inverse-sqrt", "inverse", "piecewise:ROUND:FACTOR,...". @throws ConfigError.
[[nodiscard]] StepSchedule parse_step_schedule(std::string_view option,
                                               std::string_view text,
                                               double step_size);
/// Without the step size; parse_step_schedule reads it back.
[[nodiscard]] std::string name_of(const StepSchedule& schedule);

/// What is guaranteed of one agent against one observer.
struct Guarantee {
    PrivacyLoss loss;
    double delta = 0;    ///< of the budget
    double epsilon = 0;  ///< of the loss at that delta, certified from above; may be infinite
    [[nodiscard]] bool infinite() const { return loss.infinite(); }
    /// Whether less is revealed than by `other`; both at one delta.
    [[nodiscard]] bool operator<(const Guarantee& other) const {
        return loss.less_at(delta, other.loss);
    }
};
[[nodiscard]] Guarantee guarantee_of(const PrivacyLoss& loss, double delta);
/// Of messages that lie Delta_u sqrt(sens2_u precision_u) apart under the noise of a plan
/// (loss_of_distance, stated_delta).
[[nodiscard]] Guarantee guarantee_of(const NoisePlan& plan, double distance, double delta);
/// The same of one agent against an observer who knows `squared` = sens2_u precision_u; with
/// Poisson sampling of sens2_u rounds that are alike (loss_of_rounds).
[[nodiscard]] Guarantee guarantee_of(const NoisePlan& plan,
                                     const Exposure& exposure,
                                     double squared,
                                     double delta);

/// The first of those than which none is larger. @param all not empty.
[[nodiscard]] const Guarantee& largest(std::span<const Guarantee> all);

}  // namespace sotto
