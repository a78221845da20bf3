

#include "core/numbers.hpp"
#include "core/recent.hpp"
#include "design/joint_solver.hpp"
#include "design/mechanisms/table.hpp"
#include "design/message_plan.hpp"
#include "design/solver_input.hpp"

namespace sotto {

namespace {

/// R = diag(1/kappa), and the temporal factor with the least noise in all models of all rounds at
/// sens2 = ceil(T/b). [U] section 5.
Design design_mafalda(const DesignInput& input) {
    require_choice_of_rounds(input, "mafalda");
    Design design = ldp_mechanism().design(input);
    const DesignInput relative = relative_input(input);
    ShapedFactor solution = time_given_space(
        relative, relative_covariance(ldp_mechanism().design(relative).plan, relative));
    design.plan.mechanism = "mafalda";
    design.plan = correlate_over_rounds(std::move(design.plan), input, std::move(solution.factor));
    design.objective = solution.value;
    design.lower_bound = solution.lower_bound;
    return design;
}

}  // namespace

Mechanism mafalda_mechanism() {
    return {.name = "mafalda",
            .summary =
                "private noise, optimally correlated over rounds (record adjacency, cyclic "
                "participation)",
            .design = design_mafalda,
            .coalitions = true,
            .correlates_rounds = true,
            .takes_temporal = true,
            .uses_utility = false};
}

namespace {

/// sens2(C_time) / ceil(T/b): cost of a factor relative to independent rounds.
double louder(const DesignInput& input, const TemporalFactor& factor) {
    return temporal_sensitivity_squared(factor, input.participation, input.rounds) /
           temporal_sensitivity_squared({}, input.participation, input.rounds);
}

Design design_space_given_time(const DesignInput& input,
                               const Mechanism& spatial,
                               const TemporalFactor& factor) {
    DesignInput given = input;
    given.given_utility = louder(input, factor) * space_given_time(input, factor);
    return spatial.design(given);
}

/// Result of alternating between space and time.
struct Turns {
    TemporalFactor of_space;  ///< for which the spatial noise was solved
    TemporalFactor factor;    ///< the best given that
    double objective = infinity;
};

/// The plan of this result.
Design design_after(const DesignInput& input, const Mechanism& spatial, const Turns& turns) {
    Design design = design_space_given_time(input, spatial, turns.of_space);
    design.plan = correlate_over_rounds(std::move(design.plan), input, turns.factor);
    design.objective = turns.objective;
    return design;
}

/// @param covariance to start from.
/// @param converged relative decrease of the objective in one step at which to stop.
Turns take_turns(const DesignInput& input,
                 const Mechanism& spatial,
                 const Eigen::MatrixXd& covariance,
                 double converged) {
    constexpr int most_turns = 30;
    TemporalFactor factor = time_given_space(input, covariance).factor;
    Turns best;
    for (int turn = 0; turn < most_turns; ++turn) {
        const Design design = design_space_given_time(input, spatial, factor);
        ShapedFactor next = time_given_space(input, relative_covariance(design.plan, input));
        const bool better = next.value < design.objective;
        const double objective = better ? next.value : design.objective;
        const bool settled = !(next.value < design.objective * (1 - converged)) ||
                             !(next.value < best.objective * (1 - converged));
        TemporalFactor last = factor;
        if (better) factor = std::move(next.factor);
        if (objective < best.objective) best = {std::move(last), factor, objective};
        if (settled) break;
    }
    return best;
}

/// Alternates between the temporal factor given the spatial plan and the spatial plan given the
/// factor. Each is a convex problem, and the objective decreases every time. It is not jointly
/// convex, so there is no lower bound. If the spatial plan is slow (seed groups), a free covariance
/// comes first: its temporal factor is close, and one or two more turns suffice.
/// @param input scaled to smallest kappa 1.
Turns best_turns(const DesignInput& input, const Mechanism& spatial) {
    Eigen::MatrixXd covariance = relative_covariance(ldp_mechanism().design(input).plan, input);
    if (input.seed_groups.empty()) return take_turns(input, spatial, covariance, 1e-6);
    DesignInput alone = input;
    alone.coalition_size = 0;
    const Mechanism free = corn_mechanism();
    const Turns first = take_turns(alone, free, covariance, 1e-4);
    covariance = relative_covariance(design_after(alone, free, first).plan, input);
    return take_turns(input, spatial, covariance, 5e-3);
}

/// Recent results are cached: they do not depend on the budget.
Design design_space_time(const DesignInput& input) {
    static Recent<Turns> recent;
    require_choice_of_rounds(input, "space-time");
    const Mechanism& spatial = *input.spatial;
    require_spatial_part(spatial);
    const DesignInput relative = relative_input(input);
    const Turns turns = recent.get(
        design_digest(relative),
        [&] { return best_turns(relative, spatial); },
        [](const Turns& taken) { return bytes_of(taken.of_space) + bytes_of(taken.factor); });
    Design best = design_after(input, spatial, turns);
    best.plan.mechanism = "space-time";
    best.lower_bound = not_a_number;
    return best;
}

}  // namespace

Mechanism space_time_mechanism() {
    return {.name = "space-time",
            .summary =
                "noise correlated over rounds and between agents (--spatial-mechanism), "
                "optimised together",
            .design = design_space_time,
            .coalitions = true,
            .correlates_rounds = true,
            .takes_temporal = true,
            .takes_spatial = true,
            .uses_utility = false};
}

namespace {

/// C_time of ones on and below the diagonal, so that the noise of round t is z_t - z_{t-1}.
TemporalFactor prefix_sum_factor(long rounds) {
    Eigen::MatrixXd lower(rounds, 2);
    lower.col(0).setOnes();
    lower.col(1).setConstant(-1);
    lower(0, 1) = 0;
    return {TemporalFactor::Kind::one_lag, std::move(lower)};
}

/// R = diag(1/kappa) as in ldp, with noise z_t - z_{t-1}, scaled up by its sensitivity.
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
