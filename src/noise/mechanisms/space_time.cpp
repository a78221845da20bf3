#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/noise/mechanism.hpp"
#include "sotto/noise/temporal_solver.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

void require_choice(const DesignInput& input, const std::string& mechanism) {
    if (input.participation.cycle < 2)
        throw ConfigError(fmt::format(
            "participation: {} leaves mechanism {} nothing to choose, since every round then "
            "counts "
            "against every other (use cyclic:b with a record adjacency, or another mechanism)",
            name_of(input.participation),
            mechanism));
}

/// The plan's spatial covariance where the smallest kappa is 1.
Eigen::MatrixXd relative_covariance(const NoisePlan& plan, const DesignInput& input) {
    return relative_limits(input.kappa).unit * spatial_covariance(plan);
}

ShapedFactor time_given_space(const DesignInput& input, const Eigen::MatrixXd& covariance) {
    return solve_shaped_factor(*input.mixing,
                               covariance,
                               design_steps(input),
                               input.gossip_steps,
                               input.participation.cycle,
                               input.temporal);
}

/// sens2(C_time) / ceil(T/b): what a factor costs beside independent rounds.
double louder(const DesignInput& input, const TemporalFactor& factor) {
    return temporal_sensitivity_squared(factor, input.participation, input.rounds) /
           temporal_sensitivity_squared({}, input.participation, input.rounds);
}

Design design_space_given_time(const DesignInput& input,
                               const Mechanism& spatial,
                               const TemporalFactor& factor) {
    DesignInput given = input;
    given.given_utility =
        louder(input, factor) *
        spatial_utility(*input.mixing, factor, design_steps(input), input.gossip_steps);
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
        if (design.plan.aggregation != Aggregation::gossip)
            throw ConfigError(fmt::format(
                "spatial-mechanism: {} is not possible, whose aggregator is trusted (allowed: ldp, "
                "decor, corn, corn-hbc, pairs)",
                spatial.name));
        ShapedFactor next = time_given_space(input, relative_covariance(design.plan, input));
        const bool better = next.value < design.objective;
        const bool settled = !(next.value < design.objective * (1 - converged)) ||
                             !(next.value < best.objective * (1 - converged));
        if (better) {
            factor = std::move(next.factor);
            design.objective = next.value;
        }
        if (design.objective < best.objective) {
            correlate_over_rounds(design.plan, input, factor);
            best = std::move(design);
        }
        if (settled) break;
    }
    return best;
}

}  // namespace

/// R = diag(1/kappa), and the temporal factor that leaves the least noise in all models of all
/// rounds at sens2 = ceil(T/b). [U] section 5.
Design design_mafalda(const DesignInput& input) {
    require_choice(input, "mafalda");
    Design design = design_ldp(input);
    ShapedFactor solution = time_given_space(input, relative_covariance(design.plan, input));
    design.plan.mechanism = "mafalda";
    correlate_over_rounds(design.plan, input, std::move(solution.factor));
    design.objective = solution.value;
    design.lower_bound = solution.lower_bound;
    return design;
}

/// Temporal factor given the spatial plan, spatial plan given the temporal factor, in turns: each
/// is a convex problem, and the objective falls in every turn. It is not jointly convex, so there
/// is no lower bound. Where the spatial plan takes long (seed groups), turns with a free covariance
/// come first: their temporal factor is close, and one or two turns are left.
Design design_space_time(const DesignInput& input) {
    require_choice(input, "space-time");
    const Mechanism& spatial = *input.spatial;
    Eigen::MatrixXd covariance = relative_covariance(design_ldp(input).plan, input);
    if (spatial.seed_groups) {
        DesignInput alone = input;
        alone.coalition_size = 0;
        const Mechanism& free = find_mechanism("spatial-mechanism", "corn");
        covariance = relative_covariance(take_turns(alone, free, covariance, 1e-4).plan, input);
    }
    Design best = take_turns(input, spatial, covariance, spatial.seed_groups ? 5e-3 : 1e-6);
    best.plan.mechanism = "space-time";
    best.lower_bound = not_a_number;
    return best;
}

}  // namespace sotto
