#include "design/finish_plan.hpp"
#include "design/mechanisms/table.hpp"
#include "design/time_design.hpp"

namespace sotto {

namespace {

/// C_time of ones on and below the diagonal, so that the noise of round t is z_t - z_{t-1}.
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
    independent.given_utility = space_given_time(input, factor);
    Design design = ldp_mechanism().design(independent);
    const double before = design.plan.scale;
    design.plan.mechanism = "anti-pgd";
    design.plan = correlate_over_rounds(std::move(design.plan), input, factor);
    const double louder = design.plan.scale / before;
    design.objective *= louder * louder;
    design.lower_bound = design.objective;
    return design;
}

}  // namespace

Mechanism anti_pgd_mechanism() {
    return {.name = "anti-pgd",
            .summary = "private noise that cancels over rounds, z_t - z_{t-1}: for comparison",
            .design = design_anti_pgd,
            .coalitions = true,
            .correlates_rounds = true,
            .uses_utility = false};
}

}  // namespace sotto
