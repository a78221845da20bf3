#include "design/time_design.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "design/design_digest.hpp"
#include "design/finish_plan.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/recent.hpp"
#include "sotto/design/scheduled_utility.hpp"
#include "sotto/design/temporal_utility.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

/// Before a factor is solved for, that require_separate_rounds would refuse.
void require_separate_shape(const DesignInput& input) {
    const TemporalShape& shape = input.temporal;
    const bool one_lag = shape.kind == TemporalShape::Kind::one_lag;
    long reach = shape.kind == TemporalShape::Kind::banded ? shape.band : input.rounds - 1;
    if (shape.restart > 0) reach = std::min(reach, shape.restart - 1);
    if (!one_lag && reach < input.participation.cycle) return;
    throw ConfigError(fmt::format(
        "temporal: {} is not possible with participation {}, {} (allowed: banded:B with B up to "
        "{}, or dense with --temporal-restart up to {})",
        name_of(shape),
        name_of(input.participation),
        one_lag ? "whose sampled rounds are counted one by one: one-lag makes each count more"
                : "since nothing is proved for sampled rounds of one record that share noise",
        input.participation.cycle - 1,
        input.participation.cycle));
}

Digest problem_digest(const DesignInput& input,
                      const Eigen::MatrixXd& covariance,
                      const TemporalShape& shape,
                      Certificate certificate) {
    return Hasher("sotto.time-problem.v1")
        .add_bytes(design_digest(input))
        .add(values_of(covariance))
        .add(name_of(shape))
        .add(static_cast<std::int64_t>(certificate))
        .finish();
}

ShapedFactor solve(const DesignInput& input,
                   const Eigen::MatrixXd& covariance,
                   const TemporalShape& shape,
                   Certificate certificate) {
    const std::vector<double> steps = design_steps(input);
    const long cycle = input.participation.cycle;
    if (input.schedule)
        return solve_shaped_factor(
            temporal_utility(*input.schedule, covariance, steps, input.gossip.steps()),
            cycle,
            shape);
    return solve_shaped_factor(
        *input.mixing, covariance, steps, input.gossip, cycle, shape, certificate);
}

}  // namespace

void require_choice_of_rounds(const DesignInput& input, std::string_view mechanism) {
    if (input.temporal.independent()) return;
    if (input.participation.poisson && input.participation.cycle > 1) require_separate_shape(input);
    if (input.participation.cycle < 2)
        throw ConfigError(fmt::format(
            "participation: {} leaves mechanism {} nothing to choose, since every round then "
            "counts against every other (use cyclic:b or cyclic-poisson:b with a record adjacency, "
            "or another mechanism)",
            name_of(input.participation),
            mechanism));
}

DesignInput relative_input(const DesignInput& input) {
    DesignInput relative = input;
    relative.kappa = relative_limits(input.kappa).kappa;
    return relative;
}

Eigen::MatrixXd relative_covariance(const NoisePlan& plan, const DesignInput& input) {
    return relative_limits(input.kappa).unit * spatial_covariance(plan);
}

Eigen::MatrixXd space_given_time(const DesignInput& input, const TemporalFactor& factor) {
    const std::vector<double> steps = design_steps(input);
    return input.schedule ? spatial_utility(*input.schedule, factor, steps, input.gossip.steps())
                          : spatial_utility(*input.mixing, factor, steps, input.gossip);
}

std::size_t bytes_of(const TemporalFactor& factor) {
    return sizeof(double) * static_cast<std::size_t>(factor.lower.size());
}

ShapedFactor time_given_space(const DesignInput& input, const Eigen::MatrixXd& covariance) {
    return time_given_space(input, covariance, input.temporal, Certificate::wanted);
}

ShapedFactor time_given_space(const DesignInput& input,
                              const Eigen::MatrixXd& covariance,
                              const TemporalShape& shape,
                              Certificate certificate) {
    static Recent<ShapedFactor> recent;
    return recent.get(
        problem_digest(input, covariance, shape, certificate),
        [&] { return solve(input, covariance, shape, certificate); },
        [](const ShapedFactor& solution) { return bytes_of(solution.factor); });
}

}  // namespace sotto
