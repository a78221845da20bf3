#include "sotto/noise/mechanism.hpp"

namespace sotto {

/// Central differential privacy, the reference nobody can beat: agent 0 plays a trusted aggregator
/// that alone sees the messages and adds one stream of variance 1/kappa to their sum, hence
/// (1/kappa)/n^2 to the mean. R = e_0 e_0^T / kappa is singular: only the mean is observed.
Design design_cdp(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    Design design;
    NoisePlan& plan = design.plan;
    plan.mechanism = "cdp";
    plan.agents = input.graph->agents();
    plan.scale = 1 / std::sqrt(limits.unit);
    plan.aggregation = Aggregation::trusted_mean;
    plan.groups.push_back({{0}});
    plan.streams.push_back({0, 0, StreamDistribution::gaussian});
    plan.rows.push_back({0, NoiseRow::all_receivers, {0}, {1.0}});
    finish_plan(plan, input.kappa);
    const MixingMatrix average = MixingMatrix::average(plan.agents);
    design.objective =
        utility_matrix(average, input.utility, input.rounds, input.gossip_steps)(0, 0);
    design.lower_bound = design.objective;
    return design;
}

}  // namespace sotto
