#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/graph/mixing.hpp"
#include "sotto/noise/temporal_shape.hpp"
#include "sotto/noise/utility.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/plan_use.hpp"

namespace sotto {

struct Mechanism;

/// What a noise plan is made for.
struct DesignInput {
    const Graph* graph = nullptr;
    const MixingMatrix* mixing = nullptr;
    Utility utility;
    long rounds = 1;
    int gossip_steps = 1;
    Participation participation;  ///< only mechanisms with a temporal factor depend on it
    TemporalShape temporal;       ///< of the temporal factor (mafalda, space-time)
    Eigen::VectorXd kappa;        ///< largest allowed [R^-1]_uu of every agent; see precision_limit
    double clip_norm = 1;         ///< C; the grid of a plan without noise leaves it room
    double variance_cap = 1e4;    ///< R_uu <= variance_cap / kappa_u
    int coalition_size = 0;       ///< q: every coalition of q agents is kept within kappa too
    bool common_variance = false;        ///< one private variance for all (pairs, corn-hbc)
    std::vector<SeedGroup> seed_groups;  ///< who may share a seed (pairs, corn-hbc)
    StepSchedule steps;                  ///< eta_t; counts where rounds are not alike
    const Mechanism* spatial = nullptr;  ///< the part between agents (space-time)
    /// M instead of the one that utility, rounds and gossip steps give.
    std::optional<Eigen::MatrixXd> given_utility;
};
/// M of the input.
[[nodiscard]] Eigen::MatrixXd design_utility(const DesignInput& input);

/// A plan, and how good it is. Objectives are Tr(M R) in units where the smallest kappa is 1; they
/// compare across mechanisms, budgets and step sizes.
struct Design {
    NoisePlan plan;
    double objective = 0;
    double lower_bound = 0;  ///< certified, over all plans of this mechanism
    bool capped = false;     ///< the variance cap binds: the unlimited optimum would diverge
    [[nodiscard]] double relative_gap() const {
        return objective > 0 ? (objective - lower_bound) / objective : 0;
    }
};

/// One way to protect a training. A new mechanism is one file that fills this in and one line in
/// the table of mechanism.cpp; nothing else knows it by name.
struct Mechanism {
    std::string name;
    std::string summary;       ///< one line for people
    bool needs_budget = true;  ///< false: adds no noise, epsilon is infinite
    /// Against how many colluding agents it can be designed: none, or any number (then
    /// `default_coalition_size` is what it does when not asked).
    bool coalitions = false;
    int default_coalition_size = 0;
    bool seed_groups = false;  ///< uses DesignInput::seed_groups
    Design (*design)(const DesignInput&) = nullptr;
    /// Its noise is correlated over rounds. Objectives are then those of the trajectory,
    /// Tr(H (X_time^-1 (x) R)), whatever the utility.
    bool correlates_rounds = false;
    /// False where the utility only rates the plan and does not shape it.
    bool uses_utility = true;
    bool takes_temporal = false;  ///< DesignInput::temporal says what its factor may look like
    bool takes_spatial = false;   ///< DesignInput::spatial says how agents' noise is correlated
    bool pure_epsilon =
        false;  ///< Laplace noise: budgets are pure, gradients are clipped in L1 norm
};

[[nodiscard]] std::span<const Mechanism> mechanisms();
[[nodiscard]] std::vector<std::string> mechanism_names();
/// @throws ConfigError suggesting the nearest name.
[[nodiscard]] const Mechanism& find_mechanism(std::string_view option, std::string_view name);

// One file each.
[[nodiscard]] Design design_none(const DesignInput& input);
[[nodiscard]] Design design_ldp(const DesignInput& input);
[[nodiscard]] Design design_cdp(const DesignInput& input);
[[nodiscard]] Design design_decor(const DesignInput& input);
[[nodiscard]] Design design_corn(const DesignInput& input);
[[nodiscard]] Design design_pairs(const DesignInput& input);
[[nodiscard]] Design design_corn_hbc(const DesignInput& input);
[[nodiscard]] Design design_muffliato(const DesignInput& input);
[[nodiscard]] Design design_anti_pgd(const DesignInput& input);

/// Noise added to messages, not to gradients. Objectives are not numbers: such noise does not scale
/// with the step size.
[[nodiscard]] Design design_zip_dl(const DesignInput& input);
[[nodiscard]] Design design_homomorphic(const DesignInput& input);
[[nodiscard]] Design design_laplace(const DesignInput& input);
/// Shared by their files: raises every agent's coefficients so that the budget covers
/// run_sensitivity_squared instead of the number of participations that kappa counts, and chooses a
/// grid of 2^-40 of the smallest standard deviation, so that rounding messages to it before the
/// noise is added changes nothing that counts.
/// @param plan with noise that meets kappa in one round.
void finish_message_plan(NoisePlan& plan, const DesignInput& input);

[[nodiscard]] Design design_mafalda(const DesignInput& input);
[[nodiscard]] Design design_space_time(const DesignInput& input);

/// C_time of anti-pgd: ones on and below the diagonal, so that the noise of round t is
/// z_t - z_{t-1}.
[[nodiscard]] TemporalFactor prefix_sum_factor(long rounds);

/// Shared by the design files: kappa in units of its smallest value, and that value.
struct RelativeLimits {
    Eigen::VectorXd kappa;  ///< smallest entry 1
    double unit = 1;        ///< the smallest kappa; plans are scaled by 1/sqrt(unit)
};
[[nodiscard]] RelativeLimits relative_limits(const Eigen::VectorXd& kappa);
/// Shared by the design files: gives a finished plan a temporal factor. Its scale is raised so that
/// the budget covers the factor's squared sensitivity instead of the number of participations that
/// kappa counts, and the grid becomes finer where rounds are conditionally quieter.
/// @param factor C_time of input.rounds rounds.
void correlate_over_rounds(NoisePlan& plan, const DesignInput& input, TemporalFactor factor);
/// Shared by the design files: step sizes of every round in units of the first.
[[nodiscard]] std::vector<double> design_steps(const DesignInput& input);

/// Shared by the design files: raises `scale` by the rounding error of the factorisation, if any,
/// so that the plan's own coefficients meet kappa against every coalition of plan.coalition_size;
/// chooses the grid (2^-20 of the smallest
/// conditional standard deviation, rounded down to a power of two); validates.
void finish_plan(NoisePlan& plan, const Eigen::VectorXd& kappa);

}  // namespace sotto
