#include "sotto/noise/mechanism.hpp"
#include "sotto/noise/temporal_solver.hpp"

namespace sotto {

TemporalFactor prefix_sum_factor(long rounds) {
    Eigen::MatrixXd lower(rounds, 2);
    lower.col(0).setOnes();
    lower.col(1).setConstant(-1);
    lower(0, 1) = 0;
    return {TemporalFactor::Kind::one_lag, std::move(lower)};
}

/// R = diag(1/kappa) like ldp, but the noise of a round is z_t - z_{t-1}, as much louder as its
/// sensitivity is larger.
Design design_anti_pgd(const DesignInput& input) {
    const TemporalFactor factor = prefix_sum_factor(input.rounds);
    DesignInput independent = input;
    independent.given_utility =
        spatial_utility(*input.mixing, factor, design_steps(input), input.gossip_steps);
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
