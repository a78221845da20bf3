#include <cmath>

#include "design/finish_plan.hpp"
#include "design/mechanisms/table.hpp"
#include "sotto/design/reference_objectives.hpp"

namespace sotto {

namespace {

/// Central differential privacy, the reference nobody can beat: agent 0 plays a trusted aggregator
/// that alone sees the messages and adds one stream of variance 1/kappa to their sum, hence
/// (1/kappa)/n^2 to the mean. R = e_0 e_0^T / kappa is singular: only the mean is observed.
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
