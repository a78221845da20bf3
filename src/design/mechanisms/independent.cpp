

#include <algorithm>
#include <cmath>

#include "design/large_design.hpp"
#include "design/mechanisms/table.hpp"
#include "design/message_plan.hpp"
#include "design/reference_objectives.hpp"

namespace sotto {

namespace {

Design design_none(const DesignInput& input) {
    Design design;
    design.plan.mechanism = "none";
    design.plan.agents = input.graph->agents();
    // Without noise the clip sets the grid: sums of clipped gradients are exact below 2^53 steps.
    design.plan.grid_step_log2 = std::max(-40, std::ilogb(input.clip_norm) - 52);
    design.plan.validate();
    return design;
}

}  // namespace

Mechanism none_mechanism() {
    return {.name = "none",
            .summary = "no noise, no privacy",
            .design = design_none,
            .needs_budget = false,
            .uses_utility = false};
}

namespace {

/// R = diag(1/kappa): independent noise of every agent.
Design design_ldp(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    NoisePlan plan;
    plan.mechanism = "ldp";
    plan.agents = input.graph->agents();
    plan.scale = 1 / std::sqrt(limits.unit);
    for (int u = 0; u < plan.agents; ++u) {
        plan.groups.push_back({{u}});
        plan.streams.push_back({u, 0, StreamDistribution::gaussian});
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {1 / std::sqrt(limits.kappa(u))}});
    }
    Design design;
    design.plan = finish_plan(std::move(plan), input.kappa);
    if (designs_locally(input)) {
        const Estimate estimate = large_independent_objective(input);
        design.objective = estimate.value;
        design.objective_error = estimate.standard_error;
    } else {
        design.objective = independent_objective(input);
    }
    design.lower_bound = design.objective;
    return design;
}

}  // namespace

Mechanism ldp_mechanism() {
    return {
        .name = "ldp",
        .summary = "private independent noise: protects against everybody, leaves the most noise",
        .design = design_ldp,
        .coalitions = true,
        .spatial_part = true,
        .uses_utility = false};
}

namespace {

/// The same noise on all copies of a message, including its own: the reference for homomorphic.
Design design_laplace(const DesignInput& input) {
    NoisePlan plan = start_laplace_plan("laplace", input);
    for (int u = 0; u < plan.agents; ++u)
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {1.0}});
    return finish_message_plan(std::move(plan), input);
}

}  // namespace

Mechanism laplace_mechanism() {
    return {
        .name = "laplace",
        .summary = "private independent Laplace noise on messages: pure epsilon, for comparison",
        .design = design_laplace,
        .distribution = StreamDistribution::laplace,
        .coalitions = true,
        .entry = NoiseEntry::message,
        .uses_utility = false};
}

namespace {

/// The noise of ldp with K gossip steps (input.gossip), all of which an observer sees. With one
/// step it is ldp.
Design design_muffliato(const DesignInput& input) {
    Design design = ldp_mechanism().design(input);
    design.plan.mechanism = "muffliato";
    return design;
}

}  // namespace

Mechanism muffliato_mechanism() {
    return {
        .name = "muffliato",
        .summary = "private independent noise, and several gossip steps per round (--gossip-steps)",
        .design = design_muffliato,
        .coalitions = true,
        .uses_utility = false};
}

namespace {

/// Federated averaging with central differential privacy (McMahan et al. 2017, 2018; [G] algorithm
/// 11): the noise of cdp, with Mechanism::local_updates.
Design design_dp_fedavg(const DesignInput& input) {
    Design design = cdp_mechanism().design(input);
    design.plan.mechanism = "dp-fedavg";
    return design;
}

}  // namespace

Mechanism dp_fedavg_mechanism() {
    return {.name = "dp-fedavg",
            .summary = "reference: federated averaging, whose trusted server adds noise",
            .design = design_dp_fedavg,
            .aggregation = Aggregation::trusted_mean,
            .local_updates = true,
            .uses_utility = false};
}

namespace {

/// Central differential privacy, the reference: agent 0 acts as a trusted aggregator that alone
/// sees the messages and adds one stream of variance 1/kappa to their sum, hence (1/kappa)/n^2 to
/// the mean. R = e_0 e_0^T / kappa is singular: only the mean is observed.
Design design_cdp(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    NoisePlan plan;
    plan.mechanism = "cdp";
    plan.agents = input.graph->agents();
    plan.scale = 1 / std::sqrt(limits.unit);
    plan.aggregation = Aggregation::trusted_mean;
    plan.groups.push_back({{0}});
    plan.streams.push_back({0, 0, StreamDistribution::gaussian});
    plan.rows.push_back({0, NoiseRow::all_receivers, {0}, {1.0}});
    Design design;
    design.plan = finish_plan(std::move(plan), input.kappa);
    design.objective = trusted_mean_objective(input);
    design.lower_bound = design.objective;
    return design;
}

}  // namespace

Mechanism cdp_mechanism() {
    return {.name = "cdp",
            .summary = "reference: a trusted aggregator adds noise to the mean",
            .design = design_cdp,
            .aggregation = Aggregation::trusted_mean,
            .uses_utility = false};
}

}  // namespace sotto
