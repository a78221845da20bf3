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

/// What an optimised temporal factor C_time may look like.
struct TemporalShape {
    enum class Kind {
        dense,   ///< any lower triangular matrix; an agent keeps all its past noise
        banded,  ///< `band` subdiagonals; an agent keeps so many rounds of past noise
        one_lag  ///< C_time^-1 = I - rho S, S the subdiagonal: noise z_t - rho z_{t-1}
    };
    Kind kind = Kind::dense;
    long band = 0;     ///< B, of Kind::banded; 0: independent rounds
    long restart = 0;  ///< rounds after which the factor begins anew, independently; 0: never

    /// No two rounds share noise.
    [[nodiscard]] bool independent() const { return kind == Kind::banded && band == 0; }
    [[nodiscard]] bool operator==(const TemporalShape&) const = default;
};

/// "dense", "banded:B", "one-lag". @throws ConfigError.
/// @param also another word that the option takes, for the message.
[[nodiscard]] TemporalShape parse_temporal(std::string_view option,
                                           std::string_view text,
                                           std::string_view also = {});
[[nodiscard]] std::string name_of(const TemporalShape& shape);
/// As parse_temporal takes it: without its restart.
[[nodiscard]] std::string temporal_text(TemporalShape shape);

/// Which mean of its models an agent ends up with.
struct ModelAverage {
    enum class Kind {
        none,         ///< the last model
        tail,         ///< the mean of the last `value` T rounds' models, 0 < value <= 1
        exponential,  ///< y <- value y + (1 - value) x after every round, 0 <= value < 1
    };
    Kind kind = Kind::none;
    double value = 0;

    [[nodiscard]] bool none() const { return kind == Kind::none; }
    /// Models of how many rounds a tail has, of T: ceil(value T), at least 1.
    [[nodiscard]] long tail_rounds(long rounds) const;
    [[nodiscard]] bool operator==(const ModelAverage&) const = default;
};
/// "none", "tail:F", "ema:B". @throws ConfigError.
[[nodiscard]] ModelAverage parse_average(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const ModelAverage& average);

/// What an agent does with noisy gradients and models beside mixing. It is a function of what the
/// accountant has counted and costs no privacy; it changes how much noise is left.
struct Smoothing {
    double momentum = 0;   ///< B in [0, 1): u <- B u + g + v, x <- P(x - eta u)
    long tail_rounds = 1;  ///< J >= 1: agents end up with the mean of the last J rounds' models,
    double decay = 0;      ///< or, above 0, with y, y <- decay y + (1 - decay) x after every round
    GossipPolynomial final_gossip{0};  ///< L exchanges of what that gives, after the last round

    /// Agents end up with a mean of models, not with the last.
    [[nodiscard]] bool averages() const { return tail_rounds > 1 || decay > 0; }
    /// All is as if there were none.
    [[nodiscard]] bool none() const {
        return momentum == 0 && !averages() && final_gossip.steps() == 0;
    }
    /// With this mean of models, in a training of so many rounds.
    void set_average(const ModelAverage& average, long rounds);
};

/// Which of the noise that mixing leaves behind a plan minimises: Tr(M R) with
/// M = sum_{k>=1} w_k (W^k)^T D^-2 W^k, D = I but with push-sum (estimate_factors).
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

/// M, n x n, symmetric, positive semidefinite: M = sum_a w_a g_a(W)^T D^-2 g_a(W), with g_a(W) what
/// noise of one round has become a rounds later in what agents end up with. Without smoothing it is
/// P_K(W)^a; with momentum, means of models and final gossip docs/equations.md 16. Means and final
/// gossip count for `final` alone: it is about what agents end up with, the others about the models
/// that gradients are taken at, for which noise that a mean takes away later is noise
/// (docs/decisions/free-utility.md).
/// Cost: one eigendecomposition and O(n length) for symmetric W; O(n^3 log(length)) otherwise, or
/// O(n^3 length) with momentum or a mean.
/// @param rounds T >= 1.
[[nodiscard]] Eigen::MatrixXd utility_matrix(const MixingMatrix& mixing,
                                             const Utility& utility,
                                             long rounds,
                                             const GossipPolynomial& gossip = 1,
                                             const Smoothing& smoothing = {});

/// The same for mixing that changes: M = mean over rounds s of sum_k w_k P^T P with the products P
/// = D^-1 W_{s+k-1} ... W_s ([U] A.7; D holds push-sum's w after round s+k-1, else I), over all s
/// of one period, at most 20 of them, evenly spaced. Cost: O(20 n^3 K length).
[[nodiscard]] Eigen::MatrixXd utility_matrix(const MixingSchedule& schedule,
                                             const Utility& utility,
                                             long rounds,
                                             int gossip_steps = 1);

struct Mechanism;

/// What a noise plan is made for.
struct DesignInput {
    const Graph* graph = nullptr;
    const MixingMatrix* mixing = nullptr;
    /// Where mixing changes from round to round and noise is correlated over rounds; then *mixing
    /// is that of round 0.
    std::shared_ptr<const MixingSchedule> schedule{};
    Utility utility;
    long rounds = 1;
    GossipPolynomial gossip{1};  ///< of a round
    Smoothing smoothing{};
    Participation participation;  ///< only mechanisms with a temporal factor depend on it
    TemporalShape temporal;       ///< of the temporal factor; for those that take one
    Eigen::VectorXd kappa;        ///< largest allowed [R^-1]_uu of every agent; see precision_limit
    double clip_norm = 1;         ///< C; the grid of a plan without noise leaves it room
    double variance_cap = 1e4;    ///< R_uu <= variance_cap / kappa_u
    double gap = 0.01;            ///< certified, of designs with seed groups; see CoalitionOptions
    int coalition_size = 0;       ///< q: every coalition of q agents is kept within kappa too
    bool common_variance = false;        ///< one private variance for all; with seed groups
    std::vector<SeedGroup> seed_groups;  ///< who may share a seed; for those that use seed groups
    StepSchedule steps;                  ///< eta_t; counts where rounds are not alike
    const Mechanism* spatial = nullptr;  ///< the part between agents; for those that take one
    /// R up to a factor, for mechanisms that take one; none: the identity.
    std::optional<Eigen::MatrixXd> covariance;
    /// M instead of the one that utility, rounds and gossip steps give.
    std::optional<Eigen::MatrixXd> given_utility;
};
/// DesignInput::gap when nobody says: 0.01, or above 200 agents, whose last per cents take minutes,
/// 0.05.
[[nodiscard]] double default_gap(int agents);
/// M of the input; of all rounds of a schedule where there is one.
[[nodiscard]] Eigen::MatrixXd design_utility(const DesignInput& input);
/// Step sizes of every round in units of the first.
[[nodiscard]] std::vector<double> design_steps(const DesignInput& input);

/// A plan, and how good it is. Objectives are Tr(M R) in units where the smallest kappa is 1; they
/// compare across mechanisms, budgets and step sizes. Noise on messages does not scale with the
/// step size: its objectives are not numbers.
struct Design {
    NoisePlan plan;
    double objective = 0;
    double lower_bound = 0;  ///< certified, over all plans of this mechanism
    bool capped = false;     ///< the variance cap binds: the unlimited optimum would diverge
    [[nodiscard]] double relative_gap() const {
        return objective > 0 ? (objective - lower_bound) / objective : 0;
    }
};

}  // namespace sotto
