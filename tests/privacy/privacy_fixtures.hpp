#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto::test {

/// A plan without streams; add_stream fills it.
inline NoisePlan blank_plan(int agents, double scale = 1) {
    NoisePlan plan;
    plan.mechanism = "hand-made";
    plan.agents = agents;
    plan.scale = scale;
    plan.grid_step_log2 = -40;
    for (int u = 0; u < agents; ++u) plan.rows.push_back({u, NoiseRow::all_receivers, {}, {}});
    return plan;
}

/// A new stream, in a seed group of its own.
inline void add_stream(NoisePlan& plan,
                       const std::vector<int>& holders,
                       const std::vector<double>& coefficients) {
    const auto stream = static_cast<int>(plan.streams.size());
    plan.streams.push_back({static_cast<int>(plan.groups.size()), 0, StreamDistribution::gaussian});
    plan.groups.push_back({holders});
    for (std::size_t i = 0; i < holders.size(); ++i) {
        auto& row = plan.rows[static_cast<std::size_t>(holders[i])];
        row.streams.push_back(stream);
        row.coefficients.push_back(coefficients[i]);
    }
}

/// Private noise only, of the given standard deviations.
inline NoisePlan private_plan(const std::vector<double>& stds, double scale = 1) {
    NoisePlan plan = blank_plan(static_cast<int>(stds.size()), scale);
    for (std::size_t u = 0; u < stds.size(); ++u)
        add_stream(plan, {static_cast<int>(u)}, {stds[u]});
    return plan;
}

/// One seed that all agents share; R = scale^2 F F^T with a random lower-triangular F.
inline NoisePlan shared_seed_plan(int agents, std::uint64_t seed = 1) {
    SeededRandom random(seed, "shared seed plan");
    NoisePlan plan = blank_plan(agents, 0.7);
    std::vector<int> everybody(static_cast<std::size_t>(agents));
    std::iota(everybody.begin(), everybody.end(), 0);
    plan.groups = {{everybody}};
    for (int k = 0; k < agents; ++k) {
        plan.streams.push_back({0, static_cast<std::uint64_t>(k), StreamDistribution::gaussian});
        for (int u = k; u < agents; ++u) {
            plan.rows[static_cast<std::size_t>(u)].streams.push_back(k);
            plan.rows[static_cast<std::size_t>(u)].coefficients.push_back(
                u == k ? 1.0 + random.uniform() : random.uniform() - 0.5);
        }
    }
    return plan;
}

/// Private noise, a stream per edge with any two coefficients, and one stream for the first three.
inline NoisePlan random_plan(const Graph& graph, std::uint64_t seed) {
    SeededRandom random(seed, "random plan", static_cast<std::uint64_t>(graph.agents()));
    NoisePlan plan = blank_plan(graph.agents(), 0.5 + random.uniform());
    for (int u = 0; u < graph.agents(); ++u) add_stream(plan, {u}, {0.3 + random.uniform()});
    for (const auto& [u, v] : graph.edges())
        add_stream(plan, {u, v}, {random.normal(), random.normal()});
    if (graph.agents() >= 3)
        add_stream(plan, {0, 1, 2}, {random.normal(), random.normal(), random.normal()});
    plan.validate();
    return plan;
}

/// Only pair noise that cancels: R is the Laplacian.
inline NoisePlan pair_plan(const Graph& graph) {
    NoisePlan plan = blank_plan(graph.agents());
    for (const auto& [u, v] : graph.edges()) add_stream(plan, {u, v}, {1.0, -1.0});
    return plan;
}

inline Graph make_graph(Topology topology, int agents, std::uint64_t seed = 1) {
    TopologySpec spec;
    spec.topology = topology;
    spec.agents = agents;
    spec.edge_probability = 0.4;
    spec.graph_seed = seed;
    return make_topology(spec).graph;
}

inline std::vector<Graph> sample_graphs(const std::vector<int>& sizes) {
    std::vector<Graph> graphs;
    for (const int n : sizes)
        for (const Topology topology : {Topology::ring,
                                        Topology::path,
                                        Topology::star,
                                        Topology::complete,
                                        Topology::erdos_renyi})
            graphs.push_back(make_graph(topology, n, static_cast<std::uint64_t>(n)));
    return graphs;
}

}  // namespace sotto::test
