#pragma once

#include <Eigen/Dense>
#include <numeric>
#include <vector>

#include "privacy/privacy_fixtures.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto::test {

inline Phase fixed_phase(const MixingMatrix& mixing, long rounds, std::vector<int> departed = {}) {
    return {rounds, MixingSchedule({mixing}), std::move(departed)};
}

inline MessageProcess process_of(const Graph& graph,
                                 const NoisePlan& plan,
                                 std::vector<Phase> phases,
                                 GossipPolynomial gossip = 1) {
    MessageProcess process;
    process.graph = &graph;
    process.plan = &plan;
    process.phases = std::move(phases);
    process.gossip = std::move(gossip);
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

/// Every message has noise of its own, and the noises of one sender cancel in the network's mean,
/// over its neighbours and, if `with_sender`, itself (zip-dl).
inline NoisePlan zero_sum_plan(const Graph& graph, const MixingMatrix& mixing, bool with_sender) {
    NoisePlan plan;
    plan.mechanism = "hand-made";
    plan.agents = graph.agents();
    plan.scale = 0.8;
    plan.grid_step_log2 = -40;
    plan.entry = NoiseEntry::message;
    for (int u = 0; u < graph.agents(); ++u) {
        const auto list = with_sender ? graph.closed_neighbourhood(u) : graph.neighbours(u);
        const std::vector<int> receivers(list.begin(), list.end());
        const auto first = static_cast<int>(plan.streams.size());
        plan.groups.push_back({{u}});
        Eigen::VectorXd weights(static_cast<Eigen::Index>(receivers.size()));
        for (std::size_t i = 0; i < receivers.size(); ++i) {
            plan.streams.push_back({u, i, StreamDistribution::gaussian});
            weights(static_cast<Eigen::Index>(i)) = mixing.weight(receivers[i], u);
        }
        weights.normalize();
        const Eigen::MatrixXd projection =
            Eigen::MatrixXd::Identity(weights.size(), weights.size()) -
            weights * weights.transpose();
        for (std::size_t i = 0; i < receivers.size(); ++i) {
            NoiseRow row{u, receivers[i], {}, {}};
            for (std::size_t j = 0; j < receivers.size(); ++j) {
                row.streams.push_back(first + static_cast<int>(j));
                row.coefficients.push_back(
                    projection(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
            }
            plan.rows.push_back(std::move(row));
        }
    }
    plan.validate();
    return plan;
}

inline MixingMatrix metropolis(const Graph& graph) {
    return MixingMatrix::from_rule(graph, MixingRule::metropolis);
}

/// K Chebyshev exchanges on the graph under Metropolis weights.
inline GossipPolynomial chebyshev(const Graph& graph, int steps) {
    return gossip_polynomial(metropolis(graph), GossipRule::chebyshev, steps);
}

inline std::vector<int> everybody(int agents) {
    std::vector<int> all(static_cast<std::size_t>(agents));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

inline NoisePlan unit_plan(int agents) {
    return private_plan(std::vector<double>(static_cast<std::size_t>(agents), 1.0));
}

}  // namespace sotto::test
