#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <vector>

#include "sotto/design/temporal_shape.hpp"
#include "sotto/design/utility.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/plan_use.hpp"

namespace sotto {

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
