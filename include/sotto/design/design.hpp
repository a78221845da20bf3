#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

/// Structure of an optimised temporal factor C_time.
struct TemporalShape {
    enum class Kind {
        dense,   ///< any lower triangular matrix; an agent keeps all its past noise
        banded,  ///< `band` subdiagonals; an agent keeps `band` rounds of past noise
        one_lag  ///< C_time^-1 = I - rho S, S the subdiagonal: noise z_t - rho z_{t-1}
    };
    Kind kind = Kind::dense;
    long band = 0;     ///< B, of Kind::banded; 0: independent rounds
    long restart = 0;  ///< the factor starts afresh after so many rounds; 0: never

    /// No two rounds share noise.
    [[nodiscard]] bool independent() const { return kind == Kind::banded && band == 0; }
    [[nodiscard]] bool operator==(const TemporalShape&) const = default;
};

/// Parses "dense", "banded:B" or "one-lag".
/// @param also another word that the option accepts, for the message.
/// @throws ConfigError.
[[nodiscard]] TemporalShape parse_temporal(std::string_view option,
                                           std::string_view text,
                                           std::string_view also = {});
[[nodiscard]] std::string name_of(const TemporalShape& shape);
/// In the syntax of parse_temporal, without restart.
[[nodiscard]] std::string temporal_text(TemporalShape shape);

/// Which average of its models an agent returns.
struct ModelAverage {
    enum class Kind {
        none,         ///< the last model
        tail,         ///< the mean of the last `value` T rounds' models, 0 < value <= 1
        exponential,  ///< y <- value y + (1 - value) x after every round, 0 <= value < 1
    };
    Kind kind = Kind::none;
    double value = 0;

    [[nodiscard]] bool none() const { return kind == Kind::none; }
    /// Number of rounds in the tail: ceil(value T), at least 1.
    [[nodiscard]] long tail_rounds(long rounds) const;
    [[nodiscard]] bool operator==(const ModelAverage&) const = default;
};
/// "none", "tail:F", "ema:B". @throws ConfigError.
[[nodiscard]] ModelAverage parse_average(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const ModelAverage& average);

/// Local postprocessing of noisy gradients and models besides mixing. It costs no privacy and
/// changes how much noise remains.
struct Smoothing {
    Correction correction = Correction::none;
    double momentum = 0;   ///< B in [0, 1): u <- B u + g + v, x <- P(x - eta u)
    long tail_rounds = 1;  ///< J >= 1: agents return the mean of the last J rounds' models,
    double decay = 0;      ///< or, if above 0, y with y <- decay y + (1 - decay) x after every
                           ///< round
    GossipPolynomial final_gossip{0};  ///< L exchanges of the result, after the last round

    /// Agents return an average of models, not the last one.
    [[nodiscard]] bool averages() const { return tail_rounds > 1 || decay > 0; }
    /// No smoothing at all.
    [[nodiscard]] bool none() const {
        return last_models_of_plain_steps() && final_gossip.steps() == 0;
    }
    /// Noise of one round is multiplied by P^a in what agents return a rounds later.
    [[nodiscard]] bool last_models_of_plain_steps() const {
        return correction == Correction::none && momentum == 0 && !averages();
    }
    /// Sets the average for a training of `rounds` rounds.
    void set_average(const ModelAverage& average, long rounds);
};

/// Objective of the noise that remains after mixing: Tr(M R) with M = sum_{k>=1} w_k (W^k)^T D^-2
/// W^k, where D = I except for push-sum (estimate_factors).
struct Utility {
    enum class Kind {
        one_step,    ///< w_1 = 1: the noise after one mixing ([W] eq. 10a)
        horizon,     ///< w_k = 1 for k <= H
        trajectory,  ///< w_k = T - k + 1: all models of all rounds ([U] eq. 9)
        final_model  ///< w_k = 1 for k <= T: the last models
    };
    Kind kind = Kind::horizon;
    long horizon = 200;  ///< H, for Kind::horizon; >= 1
};

/// "one-step", "horizon:H", "trajectory", "final". @throws ConfigError.
[[nodiscard]] Utility parse_utility(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const Utility& utility);

/// M (n x n, symmetric, positive semidefinite): M = sum_a w_a g_a(W)^T D^-2 g_a(W), with g_a(W) the
/// effect of one round's noise a rounds later on what agents return. Without smoothing g_a(W) =
/// P_K(W)^a; docs/equations.md#what-is-done-beside-mixing-once-a-round has momentum, averages and
/// final gossip, and #corrections-for-data-that-differ has corrections, of constant step sizes.
/// Averages and final gossip count for `final` alone, which is about the returned models; the
/// others are about the models at which gradients are computed (docs/decisions/free-utility.md).
/// Cost: one eigendecomposition and O(n length) for symmetric W; otherwise O(n^3 log(length)), or
/// O(n^3 length) with momentum, an average or a correction.
/// @param rounds T >= 1.
[[nodiscard]] Eigen::MatrixXd utility_matrix(const MixingMatrix& mixing,
                                             const Utility& utility,
                                             long rounds,
                                             const GossipPolynomial& gossip = 1,
                                             const Smoothing& smoothing = {});

/// The same for changing mixing: M = mean over rounds s of sum_k w_k P^T P, with P = D^-1 W_{s+k-1}
/// ... W_s ([U] A.7; D holds push-sum's w after round s+k-1, else I), over all s of one period, at
/// most 20 of them, evenly spaced. With tracking P is replaced by x_k of
///
///     y_k = W_{s+k-1} (y_(k-1) + d_k), x_k = W_{s+k-1} (x_(k-1) + y_k), d_1 = 1, d_2 = -1, else 0.
///
/// Cost: O(20 n^3 K length).
/// @param correction none or tracking.
[[nodiscard]] Eigen::MatrixXd utility_matrix(const MixingSchedule& schedule,
                                             const Utility& utility,
                                             long rounds,
                                             int gossip_steps = 1,
                                             Correction correction = Correction::none);

struct Mechanism;

/// Input of a noise plan design.
struct DesignInput {
    const Graph* graph = nullptr;
    const MixingMatrix* mixing = nullptr;
    /// Set if mixing changes between rounds and noise is correlated over rounds; *mixing is then
    /// that of round 0.
    std::shared_ptr<const MixingSchedule> schedule{};
    Utility utility;
    long rounds = 1;
    GossipPolynomial gossip{1};  ///< of each round
    Smoothing smoothing{};
    Participation participation;   ///< used by mechanisms with a temporal factor only
    TemporalShape temporal;        ///< of the temporal factor, if the mechanism takes one
    Eigen::VectorXd kappa;         ///< largest allowed [R^-1]_uu of every agent (precision_limit)
    double clip_norm = 1;          ///< C; determines the grid of a plan without noise
    double variance_cap = 1e4;     ///< R_uu <= variance_cap / kappa_u
    double gap = 0.01;             ///< certified gap of designs with seed groups (CoalitionOptions)
    int coalition_size = 0;        ///< q: every coalition of q agents must stay within kappa too
    bool common_variance = false;  ///< one private variance for all agents; with seed groups
    std::vector<SeedGroup> seed_groups;  ///< agents that may share a seed, if the mechanism uses
                                         ///< seed groups
    StepSchedule steps;                  ///< eta_t; matters if rounds differ
    const Mechanism* spatial = nullptr;  ///< correlation between agents, if the mechanism takes it
    /// R up to a factor, for mechanisms that take one; default: the identity.
    std::optional<Eigen::MatrixXd> covariance;
    /// M, instead of the one from utility, rounds and gossip steps.
    std::optional<Eigen::MatrixXd> given_utility;
    double extra_noise = 0;  ///< relative, for fewer streams (CoalitionOptions); with seed groups
};
/// Default of DesignInput::gap: 0.01, or 0.05 above 200 agents, where smaller gaps take minutes.
[[nodiscard]] double default_gap(int agents);
/// M of the input; over all rounds of a schedule if there is one.
[[nodiscard]] Eigen::MatrixXd design_utility(const DesignInput& input);
/// Step sizes of all rounds relative to the first.
[[nodiscard]] std::vector<double> design_steps(const DesignInput& input);

/// A plan and its quality. Objectives are Tr(M R) in units where the smallest kappa is 1; they
/// compare across mechanisms, budgets and step sizes. They are NaN for noise on messages, which
/// does not scale with the step size.
struct Design {
    NoisePlan plan;
    double objective = 0;
    double lower_bound = 0;  ///< certified lower bound over all plans of this mechanism
    /// Standard error of both, if they are estimated from probes, as in plans of thousands of
    /// agents, and the bound is not certified; 0 if they are computed.
    double objective_error = 0;
    bool capped = false;  ///< the variance cap binds: the unlimited optimum would diverge
    [[nodiscard]] double relative_gap() const {
        return objective > 0 ? (objective - lower_bound) / objective : 0;
    }
};

}  // namespace sotto
