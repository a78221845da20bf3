#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/noise/mechanism.hpp"

namespace sotto {

TemporalFactor prefix_sum_factor(long rounds) {
    constexpr long most_rounds = 2000;  // 32 MB, and its sensitivity costs rounds^3
    if (rounds > most_rounds)
        throw ConfigError(fmt::format(
            "rounds: {} is not allowed with mechanism anti-pgd, whose temporal factor is dense "
            "(at most {})",
            rounds,
            most_rounds));
    Eigen::MatrixXd lower = Eigen::MatrixXd::Zero(rounds, rounds);
    lower.triangularView<Eigen::Lower>().setOnes();
    return {TemporalFactor::Kind::dense, std::move(lower)};
}

/// R = diag(1/kappa) like ldp, but the noise of a round is z_t - z_{t-1}. Kappa counts the larger
/// sensitivity of that (temporal_sensitivity_squared), so the objective is multiplied by it
/// relative to independent rounds.
Design design_anti_pgd(const DesignInput& input) {
    Design design = design_ldp(input);
    NoisePlan& plan = design.plan;
    plan.mechanism = "anti-pgd";
    plan.temporal = prefix_sum_factor(input.rounds);
    plan.validate();
    const double participations =
        temporal_sensitivity_squared({}, input.participation, input.rounds);
    const double sensitivity =
        temporal_sensitivity_squared(plan.temporal, input.participation, input.rounds);
    const Eigen::MatrixXd utility =
        lagged_utility_matrix(*input.mixing, input.utility, input.rounds, input.gossip_steps);
    design.objective = utility.diagonal().cwiseQuotient(relative_limits(input.kappa).kappa).sum() *
                       sensitivity / participations;
    design.lower_bound = design.objective;
    return design;
}

}  // namespace sotto
