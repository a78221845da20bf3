#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
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
    if (input.rounds > kMostDenseRounds)
        throw ConfigError(fmt::format(
            "rounds: {} is not allowed with mechanism {}, whose temporal factor is dense (at most "
            "{})",
            input.rounds,
            mechanism,
            kMostDenseRounds));
}

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& gram) {
    Eigen::MatrixXd factor = gram;
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(gram.rows(), gram.cols());
    if (!solve_positive_definite(factor, inverse))
        throw Error(ExitCode::other, "temporal factor: numerically singular");
    return inverse;
}

/// The plan's spatial covariance where the smallest kappa is 1.
Eigen::MatrixXd relative_covariance(const NoisePlan& plan, const DesignInput& input) {
    return relative_limits(input.kappa).unit * spatial_covariance(plan);
}

Design design_space_given_time(const DesignInput& input,
                               const Mechanism& spatial,
                               const Eigen::MatrixXd& gram) {
    DesignInput given = input;
    given.given_utility =
        spatial_utility(*input.mixing, inverse_of(gram), design_steps(input), input.gossip_steps);
    return spatial.design(given);
}

/// @param covariance to start from. @param converged relative fall of the objective at which to
/// stop.
Design take_turns(const DesignInput& input,
                  const Mechanism& spatial,
                  Eigen::MatrixXd covariance,
                  double converged) {
    constexpr int most_turns = 30;
    Design best;
    best.objective = std::numeric_limits<double>::infinity();
    for (int turn = 0; turn < most_turns; ++turn) {
        const Eigen::MatrixXd gram =
            solve_temporal_gram(
                temporal_utility(
                    *input.mixing, covariance, design_steps(input), input.gossip_steps),
                input.participation.cycle)
                .gram;
        Design design = design_space_given_time(input, spatial, gram);
        if (design.plan.aggregation != Aggregation::gossip)
            throw ConfigError(fmt::format(
                "spatial-mechanism: {} is not possible, whose aggregator is trusted (allowed: ldp, "
                "decor, corn, corn-hbc, pairs)",
                spatial.name));
        const double before = best.objective;
        covariance = relative_covariance(design.plan, input);
        if (design.objective < best.objective) {
            correlate_over_rounds(
                design.plan, input, {TemporalFactor::Kind::dense, temporal_factor_of(gram)});
            best = std::move(design);
        }
        if (!(best.objective < before * (1 - converged))) break;
    }
    return best;
}

}  // namespace

/// R = diag(1/kappa), and the temporal factor that leaves the least noise in all models of all
/// rounds at sens2 = ceil(T/b). [U] section 5.
Design design_mafalda(const DesignInput& input) {
    require_choice(input, "mafalda");
    Design design = design_ldp(input);
    const Eigen::MatrixXd utility = temporal_utility(*input.mixing,
                                                     relative_covariance(design.plan, input),
                                                     design_steps(input),
                                                     input.gossip_steps);
    const TemporalSolution solution = solve_temporal_gram(utility, input.participation.cycle);
    design.plan.mechanism = "mafalda";
    correlate_over_rounds(
        design.plan, input, {TemporalFactor::Kind::dense, temporal_factor_of(solution.gram)});
    design.objective = solution.value;
    design.lower_bound = solution.lower_bound;
    return design;
}

/// Temporal factor given the spatial plan, spatial plan given the temporal factor, in turns: each
/// is a convex problem, and the objective falls in every turn. It is not jointly convex, so there
/// is no lower bound. Where the spatial plan takes long (seed groups), turns with a free covariance
/// come first: their temporal factor is close, and few turns are left.
Design design_space_time(const DesignInput& input) {
    require_choice(input, "space-time");
    const Mechanism& spatial = *input.spatial;
    Eigen::MatrixXd covariance = relative_covariance(design_ldp(input).plan, input);
    if (spatial.seed_groups) {
        DesignInput alone = input;
        alone.coalition_size = 0;
        const Mechanism& free = find_mechanism("spatial-mechanism", "corn");
        covariance =
            relative_covariance(take_turns(alone, free, std::move(covariance), 1e-4).plan, input);
    }
    Design best =
        take_turns(input, spatial, std::move(covariance), spatial.seed_groups ? 1e-4 : 1e-6);
    best.plan.mechanism = "space-time";
    best.lower_bound = std::nan("");
    return best;
}

}  // namespace sotto
