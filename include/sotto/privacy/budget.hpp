#pragma once

#include <Eigen/Dense>
#include <optional>
#include <string>
#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

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
    double delta = 0;
    Calibration calibration = Calibration::exact;
    double mu = 0;      ///< the GDP parameter that meets it; `pure`: the epsilon itself
    bool pure = false;  ///< against Laplace noise, whose epsilon needs no delta
};
/// @throws ConfigError unless epsilon is finite and > 0 and 0 < delta < 1 (NaN fails), and for
///         `paper` where the exact epsilon of its mu exceeds the target.
[[nodiscard]] PrivacyBudget make_budget(double epsilon, double delta, Calibration calibration);
/// The same budget as a pure epsilon, with delta 0. @throws ConfigError unless epsilon > 0.
[[nodiscard]] PrivacyBudget make_pure_budget(double epsilon);

/// What "neighbouring" means, hence the L2 sensitivity Delta of one participation.
enum class Adjacency {
    agent,             ///< all data of one agent replaced: Delta = 2C (batch gradient clipped to C)
    record,            ///< one record replaced: Delta = 2C/B (each record's gradient clipped to C)
    record_zero_out,   ///< one record's contribution zeroed: Delta = C/B
    record_add_remove  ///< one record added or removed, divisor B unchanged: Delta = C/B
};
[[nodiscard]] Adjacency parse_adjacency(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(Adjacency adjacency);

/// In which rounds one record (or agent) can take part: all rounds, or one round in every cycle of
/// `cycle` rounds.
struct Participation {
    long cycle = 1;  ///< 1: every round
};
/// "every" or "cyclic:b". @throws ConfigError.
[[nodiscard]] Participation parse_participation(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const Participation& participation);

/// How much of one agent's input its messages can carry.
struct Exposure {
    double sensitivity = 0;  ///< Delta_u, one participation [gradient unit]; L1 under Laplace noise
    double temporal_sensitivity =
        0;  ///< run_sensitivity_squared, over the whole run; T for every/identity
    Eigen::Index batch_size =
        0;  ///< divisor of the clipped sum (record adjacencies); 0: unknown (adjacency agent)
};

/// @param clip_norm C > 0.  @param records N_u of the agent, or 0 if unknown (then only
/// `batch_size` counts).  @param batch_size B; none: all N_u records of the agent. It changes no
/// sensitivity with adjacency `agent`, and is replaced by B_u = ceil(N_u/b) with cyclic
/// participation and known records.
/// @throws ConfigError: agent adjacency with cyclic participation; batch larger than the records of
///         a record adjacency; more batches than records; a record adjacency where both batch and
///         records are unknown.
[[nodiscard]] Exposure agent_exposure(Adjacency adjacency,
                                      const Participation& participation,
                                      double clip_norm,
                                      long rounds,
                                      Eigen::Index records,
                                      std::optional<Eigen::Index> batch_size);

/// sens2(C_time) = max_{j<b} sum_{s,t in {j, j+b, ...}} |(C_time^T C_time)_st|, leading `rounds`
/// rounds; for the identity ceil(rounds/b). [U] Theorem 8.
[[nodiscard]] double temporal_sensitivity_squared(const TemporalFactor& factor,
                                                  const Participation& participation,
                                                  long rounds);

/// The same sum of every pattern {j, j + b, ...}, j < min(b, rounds), by itself.
[[nodiscard]] Eigen::VectorXd pattern_sensitivities_squared(const TemporalFactor& factor,
                                                            const Participation& participation,
                                                            long rounds);

/// kappa_u = mu_u^2 / (Delta_u^2 sens2_u): the largest [R^-1]_uu that keeps agent u within budget.
[[nodiscard]] double precision_limit(const PrivacyBudget& budget, const Exposure& exposure);

}  // namespace sotto
