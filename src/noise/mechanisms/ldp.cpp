#include "sotto/noise/mechanism.hpp"

namespace sotto {

/// R = diag(1/kappa): every agent alone hides its gradient.
Design design_ldp(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    Design design;
    NoisePlan& plan = design.plan;
    plan.mechanism = "ldp";
    plan.agents = input.graph->agents();
    plan.scale = 1 / std::sqrt(limits.unit);
    for (int u = 0; u < plan.agents; ++u) {
        plan.groups.push_back({{u}});
        plan.streams.push_back({u, 0, StreamDistribution::gaussian});
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {1 / std::sqrt(limits.kappa(u))}});
    }
    finish_plan(plan, input.kappa);
    const Eigen::MatrixXd utility = design_utility(input);
    design.objective = utility.diagonal().cwiseQuotient(limits.kappa).sum();
    design.lower_bound = design.objective;
    return design;
}

}  // namespace sotto
