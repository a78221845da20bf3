#include "design/message_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/numbers.hpp"
#include "design/solver_input.hpp"
#include "plan/lagged_noise.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

namespace {

/// Bits between the quietest noise and the grid step. Fewer would take more of the clip, sqrt(d)
/// steps or under Laplace noise d; more would leave less room for models, which may be 2^50 steps.
int bits_below_quietest(const NoisePlan& plan) {
    constexpr int normal_bits = 30, laplace_bits = 34;
    return plan.distribution() == StreamDistribution::laplace ? laplace_bits : normal_bits;
}

/// Factor on every agent's noise relative to a plan that meets kappa in one round.
Eigen::VectorXd factors_for_run(const NoisePlan& plan,
                                const DesignInput& input,
                                const Eigen::VectorXd& precision) {
    const PlanUse use{
        input.participation, input.steps, input.mixing->sparse().diagonal(), input.gossip.steps()};
    const double counted = temporal_sensitivity_squared({}, input.participation, input.rounds);
    return run_sensitivity_squared(plan, use, input.rounds)
        .cwiseProduct(precision / counted)
        .cwiseQuotient(input.kappa)
        .cwiseSqrt();
}

/// That many bits below the quietest noise, or as fine as the loudest allows.
int message_grid_log2(const NoisePlan& plan, double quietest) {
    const int wanted =
        static_cast<int>(std::floor(std::log2(quietest))) - bits_below_quietest(plan);
    const int possible = static_cast<int>(std::ceil(std::log2(finest_grid_step(plan))));
    const int chosen = std::max(wanted, possible);
    if (std::ldexp(1, chosen) <= std::ldexp(quietest, -20)) return chosen;
    throw PrivacyError(fmt::format(
        "mechanism {}: its loudest noise has a standard deviation of {:.3g}, its quietest hides an "
        "agent by {:.3g}: doubles have no grid for noise that uneven (allowed: a ratio of about "
        "2^{}); use a graph and a mixing matrix that give every agent's own model, and all its "
        "neighbours', similar weights (--mixing max-degree), or another mechanism",
        plan.mechanism,
        largest_deviation(plan),
        quietest,
        -20 - std::ilogb(finest_grid_step(plan) / largest_deviation(plan))));
}

}  // namespace

NoisePlan start_message_plan(std::string mechanism, const DesignInput& input) {
    if (input.graph->directed() || input.mixing->push_sum())
        throw ConfigError(fmt::format(
            "mechanism {}: noise on messages is counted for undirected graphs and mixing "
            "weights whose rows sum to 1 (allowed: without --directed, and another "
            "--mixing than push-sum)",
            mechanism));
    NoisePlan plan;
    plan.mechanism = std::move(mechanism);
    plan.agents = input.graph->agents();
    plan.entry = NoiseEntry::message;
    plan.coalition_size = input.coalition_size;
    for (int u = 0; u < plan.agents; ++u) plan.groups.push_back({{u}});
    return plan;
}

NoisePlan start_laplace_plan(std::string mechanism, const DesignInput& input) {
    NoisePlan plan = start_message_plan(std::move(mechanism), input);
    for (int u = 0; u < plan.agents; ++u)
        plan.streams.push_back({u, 0, StreamDistribution::laplace});
    return plan;
}

void require_weights_of_one_sign(const std::string& mechanism, const MixingMatrix& mixing) {
    for (int u = 0; u < mixing.agents(); ++u)
        for (const int v : mixing.members(u))
            if (const double weight = mixing.weight(u, v); weight < 0)
                throw ConfigError(fmt::format(
                    "mechanism {}: agent {} gives the model of agent {} weight {} (must be at "
                    "least 0; use another --mixing, for example lazy-metropolis)",
                    mechanism,
                    u,
                    v,
                    weight));
}

Design finish_message_plan(NoisePlan plan, const DesignInput& input) {
    require_kappa(input.kappa);
    plan.scale = 1;
    plan.grid_step_log2 = -bits_below_quietest(plan);
    const Eigen::VectorXd precision = observed_precision(plan, {});
    if (!precision.allFinite())
        throw PrivacyError(
            fmt::format("mechanism {}: its noise does not hide every agent; use a mixing matrix "
                        "that gives every agent's own model some weight",
                        plan.mechanism));
    const Eigen::VectorXd louder = factors_for_run(plan, input, precision);
    double quietest = infinity;
    for (int u = 0; u < plan.agents; ++u)
        if (louder(u) > 0) quietest = std::min(quietest, louder(u) / std::sqrt(precision(u)));
    for (auto& row : plan.rows)
        // An agent without neighbours sends nothing, even if its own copy has noise.
        for (double& coefficient : row.coefficients) coefficient *= louder(row.sender);
    if (std::isfinite(quietest)) plan.grid_step_log2 = message_grid_log2(plan, quietest);
    plan.validate();
    Design design;
    design.plan = std::move(plan);
    design.objective = design.lower_bound = not_a_number;
    return design;
}

RelativeLimits relative_limits(const Eigen::VectorXd& kappa) {
    require_kappa(kappa);
    const double unit = kappa.minCoeff();
    return {kappa / unit, unit};
}

NoisePlan finish_plan(NoisePlan plan, const Eigen::VectorXd& kappa) {
    const Eigen::VectorXd precision = coalition_precision(plan, plan.coalition_size);
    if (!precision.allFinite())
        throw PrivacyError(fmt::format(
            "mechanism {}: its noise does not cover every agent (numerically singular covariance); "
            "lower the variance cap",
            plan.mechanism));
    const double excess = precision.cwiseQuotient(kappa).maxCoeff();
    if (excess > 1) plan.scale *= std::sqrt(excess);
    const double smallest_std = 1 / std::sqrt(precision.maxCoeff() / std::max(excess, 1.0));
    plan.grid_step_log2 = static_cast<int>(std::floor(std::log2(smallest_std))) - 20;
    plan.validate();
    return plan;
}

NoisePlan correlate_over_rounds(NoisePlan plan, const DesignInput& input, TemporalFactor factor) {
    plan.temporal = std::move(factor);
    plan.scale *=
        std::sqrt(temporal_sensitivity_squared(plan.temporal, input.participation, input.rounds) /
                  temporal_sensitivity_squared({}, input.participation, input.rounds));
    const double quieter = -0.5 * std::log2(largest_round_precision(plan.temporal));
    plan.grid_step_log2 += std::min(0, static_cast<int>(std::floor(quieter)));
    plan.validate();
    return plan;
}

}  // namespace sotto
