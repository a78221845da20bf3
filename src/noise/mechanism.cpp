#include "sotto/noise/mechanism.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/plan/lagged_noise.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

std::span<const Mechanism> mechanisms() {
    static const std::vector<Mechanism> table{
        {.name = "none",
         .summary = "no noise, no privacy",
         .needs_budget = false,
         .design = design_none,
         .uses_utility = false},
        {.name = "ldp",
         .summary = "private independent noise: protects against everybody, loses most",
         .coalitions = true,
         .design = design_ldp,
         .uses_utility = false},
        {.name = "cdp",
         .summary = "reference: a trusted aggregator adds noise to the mean",
         .design = design_cdp,
         .uses_utility = false},
        {.name = "decor",
         .summary = "private noise plus one shared stream per edge that cancels",
         .coalitions = true,
         .design = design_decor},
        {.name = "corn",
         .summary = "optimal correlated noise from one seed that all agents share",
         .design = design_corn},
        {.name = "corn-hbc",
         .summary = "private noise plus optimal noise of seed groups, against curious agents too",
         .coalitions = true,
         .default_coalition_size = 1,
         .seed_groups = true,
         .design = design_corn_hbc},
        {.name = "pairs",
         .summary =
             "private noise plus pair noise that cancels, optimal against curious agents too",
         .coalitions = true,
         .default_coalition_size = 1,
         .seed_groups = true,
         .design = design_pairs},
        {.name = "muffliato",
         .summary = "private independent noise, and several gossip steps a round (--gossip-steps)",
         .coalitions = true,
         .design = design_muffliato,
         .uses_utility = false},
        {.name = "anti-pgd",
         .summary = "private noise that cancels over rounds, z_t - z_{t-1}: for comparison",
         .coalitions = true,
         .design = design_anti_pgd,
         .correlates_rounds = true,
         .uses_utility = false},
        {.name = "mafalda",
         .summary = "private noise, optimally correlated over rounds (record adjacency, cyclic "
                    "participation)",
         .coalitions = true,
         .design = design_mafalda,
         .correlates_rounds = true,
         .uses_utility = false,
         .takes_temporal = true},
        {.name = "space-time",
         .summary =
             "noise correlated over rounds and between agents (--spatial-mechanism), optimised "
             "together",
         .coalitions = true,
         .design = design_space_time,
         .correlates_rounds = true,
         .uses_utility = false,
         .takes_temporal = true,
         .takes_spatial = true},
        {.name = "zip-dl",
         .summary =
             "noise of an agent's messages that cancels in the mean over agents: weak against "
             "an eavesdropper",
         .coalitions = true,
         .design = design_zip_dl,
         .uses_utility = false},
        {.name = "homomorphic",
         .summary = "Laplace noise on messages that cancels in the mean over agents: pure epsilon",
         .coalitions = true,
         .design = design_homomorphic,
         .uses_utility = false,
         .pure_epsilon = true},
        {.name = "laplace",
         .summary = "private independent Laplace noise on messages: pure epsilon, for comparison",
         .coalitions = true,
         .design = design_laplace,
         .uses_utility = false,
         .pure_epsilon = true},
    };
    return table;
}

std::vector<std::string> mechanism_names() {
    std::vector<std::string> names;
    for (const auto& mechanism : mechanisms()) names.push_back(mechanism.name);
    return names;
}

const Mechanism& find_mechanism(std::string_view option, std::string_view name) {
    for (const auto& mechanism : mechanisms())
        if (mechanism.name == name) return mechanism;
    throw unknown_name_error(option, name, mechanism_names());
}

RelativeLimits relative_limits(const Eigen::VectorXd& kappa) {
    for (Eigen::Index u = 0; u < kappa.size(); ++u)
        if (!(kappa(u) > 0 && std::isfinite(kappa(u))))
            throw ConfigError(fmt::format(
                "kappa of agent {}: {} is not allowed (must be finite and above 0)", u, kappa(u)));
    const double unit = kappa.minCoeff();
    return {kappa / unit, unit};
}

Eigen::MatrixXd design_utility(const DesignInput& input) {
    return input.given_utility
               ? *input.given_utility
               : utility_matrix(*input.mixing, input.utility, input.rounds, input.gossip_steps);
}

std::vector<double> design_steps(const DesignInput& input) {
    std::vector<double> steps;
    for (long t = 0; t < input.rounds; ++t) steps.push_back(input.steps.at(t) / input.steps.at(0));
    return steps;
}

void correlate_over_rounds(NoisePlan& plan, const DesignInput& input, TemporalFactor factor) {
    plan.temporal = std::move(factor);
    plan.scale *=
        std::sqrt(temporal_sensitivity_squared(plan.temporal, input.participation, input.rounds) /
                  temporal_sensitivity_squared({}, input.participation, input.rounds));
    const double quieter = -0.5 * std::log2(largest_round_precision(plan.temporal));
    plan.grid_step_log2 += std::min(0, static_cast<int>(std::floor(quieter)));
    plan.validate();
}

namespace {

PlanUse plan_use(const DesignInput& input) {
    return {
        input.participation, input.steps, input.mixing->sparse().diagonal(), input.gossip_steps};
}

}  // namespace

void finish_message_plan(NoisePlan& plan, const DesignInput& input) {
    (void)relative_limits(input.kappa);
    plan.scale = 1;
    const Eigen::VectorXd precision = observed_precision(plan, {});
    if (!precision.allFinite())
        throw PrivacyError(
            fmt::format("mechanism {}: its noise does not hide every agent; use a mixing matrix "
                        "that gives every agent's own model some weight",
                        plan.mechanism));
    const double counted = temporal_sensitivity_squared({}, input.participation, input.rounds);
    const Eigen::VectorXd louder = run_sensitivity_squared(plan, plan_use(input), input.rounds)
                                       .cwiseProduct(precision / counted)
                                       .cwiseQuotient(input.kappa)
                                       .cwiseSqrt();
    double quietest = infinity;
    for (int u = 0; u < plan.agents; ++u)
        if (louder(u) > 0) quietest = std::min(quietest, louder(u) / std::sqrt(precision(u)));
    for (auto& row : plan.rows)
        // An agent without neighbours sends nothing, whatever its own copy carries.
        for (double& coefficient : row.coefficients) coefficient *= louder(row.sender);
    constexpr int bits = 40;
    plan.grid_step_log2 =
        std::isfinite(quietest) ? static_cast<int>(std::floor(std::log2(quietest))) - bits : -bits;
    plan.validate();
}

void finish_plan(NoisePlan& plan, const Eigen::VectorXd& kappa) {
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
}

}  // namespace sotto
