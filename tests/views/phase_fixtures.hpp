#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "views/view_comparison.hpp"
#include "views/view_grams.hpp"
#include "views/view_rounds.hpp"

namespace sotto::test {

inline Graph ring_with_a_chord() {
    return Graph::from_edges(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {0, 5}, {0, 3}});
}

inline std::vector<Graph> small_graphs() {
    return {ring_with_a_chord(),
            make_graph(Topology::path, 5),
            make_graph(Topology::erdos_renyi, 7, 4)};
}

/// Agents without whom everybody else still has a neighbour, who sees what they send: the first and
/// the last one.
inline std::vector<int> leavers(const Graph& graph) {
    std::vector<int> all;
    for (int u = 0; u < graph.agents(); ++u) {
        const auto neighbours = graph.neighbours(u);
        if (std::ranges::all_of(neighbours, [&](int v) { return graph.neighbours(v).size() > 1; }))
            all.push_back(u);
    }
    return {all.front(), all.back()};
}

/// Noise of those who are left only, as a plan solved anew after a departure.
inline NoisePlan plan_without(const Graph& graph, const std::vector<int>& departed, double scale) {
    const auto gone = [&](int u) {
        return std::find(departed.begin(), departed.end(), u) != departed.end();
    };
    NoisePlan plan = blank_plan(graph.agents(), scale);
    for (int u = 0; u < graph.agents(); ++u)
        if (!gone(u)) add_stream(plan, {u}, {0.5 + 0.1 * u});
    for (const auto& [u, v] : graph.edges())
        if (!gone(u) && !gone(v)) add_stream(plan, {u, v}, {1.0, -0.8});
    plan.validate();
    return plan;
}

inline NoisePlan with_factor(NoisePlan plan, TemporalFactor factor) {
    plan.temporal = std::move(factor);
    plan.validate();
    return plan;
}

struct PhaseShape {
    long rounds = 1;
    long repeated = 0;
    std::vector<int> departed = {};
    const NoisePlan* plan = nullptr;
};

inline std::vector<Phase> phases_of(const Graph& graph, const std::vector<PhaseShape>& shapes) {
    std::vector<Phase> phases;
    for (const PhaseShape& shape : shapes)
        phases.push_back({shape.rounds,
                          MixingSchedule({mixing_without(graph, shape.departed)}),
                          shape.departed,
                          shape.plan,
                          shape.repeated});
    return phases;
}

inline TemporalModel temporal_model_of(const MessageProcess& process, const View& view) {
    return make_temporal_model(process, process_rounds(process), view);
}

}  // namespace sotto::test
