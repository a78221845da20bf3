#include <cmath>

#include "design/finish_plan.hpp"
#include "design/mechanisms/table.hpp"
#include "sotto/design/reference_objectives.hpp"

namespace sotto {

namespace {

/// R = diag(1/kappa): every agent alone hides its gradient.
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
    design.objective = independent_objective(input);
    design.lower_bound = design.objective;
    return design;
}

}  // namespace

Mechanism ldp_mechanism() {
    return {.name = "ldp",
            .summary = "private independent noise: protects against everybody, loses most",
            .design = design_ldp,
            .coalitions = true,
            .spatial_part = true,
            .uses_utility = false};
}

}  // namespace sotto
