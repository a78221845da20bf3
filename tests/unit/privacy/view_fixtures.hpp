#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <optional>
#include <vector>

#include "sotto/core/linear_algebra.hpp"
#include "sotto/privacy/view.hpp"
#include "unit/privacy/privacy_fixtures.hpp"

namespace sotto::test {

inline Phase fixed_phase(const MixingMatrix& mixing, long rounds, std::vector<int> departed = {}) {
    return {rounds, MixingSchedule({mixing}), std::move(departed)};
}

inline MessageProcess process_of(const Graph& graph,
                                 const NoisePlan& plan,
                                 std::vector<Phase> phases,
                                 int gossip_steps = 1) {
    MessageProcess process;
    process.graph = &graph;
    process.plan = &plan;
    process.phases = std::move(phases);
    process.gossip_steps = gossip_steps;
    return process;
}

/// C_time of noise z_t - z_{t-1}: ones on and below the diagonal.
inline TemporalFactor difference_factor(long rounds) {
    TemporalFactor factor;
    factor.kind = TemporalFactor::Kind::dense;
    factor.lower = Eigen::MatrixXd::Ones(rounds, rounds).triangularView<Eigen::Lower>();
    return factor;
}

/// One private stream of standard deviation 1 an agent, and one an edge with signs + and -.
inline NoisePlan decor_plan(const Graph& graph) {
    NoisePlan plan =
        private_plan(std::vector<double>(static_cast<std::size_t>(graph.agents()), 1.0));
    for (const auto& [u, v] : graph.edges()) add_stream(plan, {u, v}, {1.0, -1.0});
    plan.validate();
    return plan;
}

inline NoisePlan unit_plan(int agents) {
    return private_plan(std::vector<double>(static_cast<std::size_t>(agents), 1.0));
}

}  // namespace sotto::test
