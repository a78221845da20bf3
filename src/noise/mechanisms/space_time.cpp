
#include "noise/finish_plan.hpp"
#include "noise/mechanisms/table.hpp"
#include "noise/time_design.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

/// sens2(C_time) / ceil(T/b): what a factor costs beside independent rounds.
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

/// @param covariance to start from. @param converged relative fall of the objective in one step at
/// which to stop.
Design take_turns(const DesignInput& input,
                  const Mechanism& spatial,
                  const Eigen::MatrixXd& covariance,
                  double converged) {
    constexpr int most_turns = 30;
    TemporalFactor factor = time_given_space(input, covariance).factor;
    Design best;
    best.objective = infinity;
    for (int turn = 0; turn < most_turns; ++turn) {
        Design design = design_space_given_time(input, spatial, factor);
        ShapedFactor next = time_given_space(input, relative_covariance(design.plan, input));
        const bool better = next.value < design.objective;
        const bool settled = !(next.value < design.objective * (1 - converged)) ||
                             !(next.value < best.objective * (1 - converged));
        if (better) {
            factor = std::move(next.factor);
            design.objective = next.value;
        }
        if (design.objective < best.objective) {
            design.plan = correlate_over_rounds(std::move(design.plan), input, factor);
            best = std::move(design);
        }
        if (settled) break;
    }
    return best;
}

/// Temporal factor given the spatial plan, spatial plan given the temporal factor, in turns: each
/// is a convex problem, and the objective falls in every turn. It is not jointly convex, so there
/// is no lower bound. Where the spatial plan takes long (seed groups), turns with a free covariance
/// come first: their temporal factor is close, and one or two turns are left.
Design design_space_time(const DesignInput& input) {
    require_choice_of_rounds(input, "space-time");
    const Mechanism& spatial = *input.spatial;
    require_spatial_part(spatial);
    Eigen::MatrixXd covariance = relative_covariance(ldp_mechanism().design(input).plan, input);
    const bool grouped = !input.seed_groups.empty();
    if (grouped) {
        DesignInput alone = input;
        alone.coalition_size = 0;
        covariance =
            relative_covariance(take_turns(alone, corn_mechanism(), covariance, 1e-4).plan, input);
    }
    Design best = take_turns(input, spatial, covariance, grouped ? 5e-3 : 1e-6);
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

}  // namespace sotto
