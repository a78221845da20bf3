#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/noise/mechanism.hpp"
#include "sotto/noise/temporal_solver.hpp"

namespace sotto {

TemporalFactor prefix_sum_factor(long rounds) {
    if (rounds > kMostDenseRounds)
        throw ConfigError(fmt::format(
            "rounds: {} is not allowed with mechanism anti-pgd, whose temporal factor is dense "
            "(at most {})",
            rounds,
            kMostDenseRounds));
    Eigen::MatrixXd lower = Eigen::MatrixXd::Zero(rounds, rounds);
    lower.triangularView<Eigen::Lower>().setOnes();
    return {TemporalFactor::Kind::dense, std::move(lower)};
}

/// R = diag(1/kappa) like ldp, but the noise of a round is z_t - z_{t-1}, as much louder as its
/// sensitivity is larger.
Design design_anti_pgd(const DesignInput& input) {
    const TemporalFactor factor = prefix_sum_factor(input.rounds);
    const Eigen::MatrixXd inverse = factor.lower.triangularView<Eigen::Lower>().solve(
        Eigen::MatrixXd::Identity(input.rounds, input.rounds));
    DesignInput independent = input;
    independent.given_utility = spatial_utility(
        *input.mixing, inverse * inverse.transpose(), design_steps(input), input.gossip_steps);
    Design design = design_ldp(independent);
    const double before = design.plan.scale;
    design.plan.mechanism = "anti-pgd";
    correlate_over_rounds(design.plan, input, factor);
    const double louder = design.plan.scale / before;
    design.objective *= louder * louder;
    design.lower_bound = design.objective;
    return design;
}

}  // namespace sotto
