#include "planning/build_topography.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>

#include "planning/configured_mixing.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/graph/edge_list.hpp"
#include "sotto/graph/mixing_schedule.hpp"

namespace sotto {

namespace {

/// A graph, and what there is to say about how it came about.
struct DescribedGraph {
    Graph graph;
    std::string description;
    std::vector<std::string> notes;
};

DescribedGraph read_graph(const std::string& file, bool directed) {
    LoadedGraph loaded = read_edge_list(file, directed);
    std::vector<std::string> notes;
    if (loaded.report.components > 1)
        notes.push_back(fmt::format(
            "{}: {} {}components; using the largest, {} of {} agents and {} of {} edges",
            file,
            loaded.report.components,
            directed ? "strong " : "",
            loaded.report.agents,
            loaded.report.labels,
            loaded.graph.links().size(),
            loaded.report.edges));
    return {std::move(loaded.graph),
            fmt::format("{}file {}", directed ? "directed, " : "", file),
            std::move(notes)};
}

DescribedGraph draw_graph(const TopologySpec& spec) {
    GeneratedGraph generated = make_topology(spec);
    std::string description = (spec.directed ? "directed " : "") + name_of(spec.topology);
    if (spec.topology == Topology::erdos_renyi)
        description += fmt::format(" p={} (graph seed {})", spec.edge_probability, spec.graph_seed);
    std::vector<std::string> notes;
    if (generated.attempts > 1)
        notes.push_back(fmt::format("the first {} draws were not connected; using draw {}",
                                    generated.attempts - 1,
                                    generated.attempts));
    return {std::move(generated.graph), std::move(description), std::move(notes)};
}

/// The same matrix in every round.
MixingMatrix fixed_mixing(const GraphConfig& config, const PlanConfig* plan, const Graph& graph) {
    std::vector<int> everybody(static_cast<std::size_t>(graph.agents()));
    std::iota(everybody.begin(), everybody.end(), 0);
    return configured_mixing(config, plan, graph, everybody);
}

/// Matrices of one period, and the graph they are on: of random ones the union of their graphs.
ScheduledMixing schedule_of(const GraphConfig& config,
                            const PlanConfig* plan,
                            long rounds,
                            Graph graph) {
    const std::string& schedule = config.mixing_schedule;
    if (is_optimised(config) && schedule != "fixed")
        throw ConfigError(
            fmt::format("mixing-schedule: '{}' is not possible with --mixing {}, whose weights are "
                        "for one matrix that all rounds share (allowed: fixed)",
                        schedule,
                        config.mixing));
    if (schedule == "random") {
        if (config.file || config.agreed)
            throw ConfigError(
                "mixing-schedule: random draws graphs of a --topology, not of a "
                "--graph FILE or of --neighbours");
        return random_schedule(config.topology, config.mixing, rounds);
    }
    std::vector<MixingMatrix> matrices;
    if (schedule == "fixed") {
        matrices.push_back(fixed_mixing(config, plan, graph));
    } else if (schedule == "one-peer") {
        matrices = one_peer_schedule(graph);
    } else {
        if (!std::filesystem::exists(schedule)) {
            const std::vector<std::string> allowed{"fixed", "random", "one-peer", "FILE.npy"};
            throw unknown_name_error("mixing-schedule", schedule, allowed);
        }
        matrices = read_mixing_schedule(graph, schedule);
    }
    return {std::move(graph), std::move(matrices)};
}

DescribedGraph configured_graph(const GraphConfig& config) {
    if (config.agreed) return {*config.agreed, "of what every agent knows of its neighbours", {}};
    return config.file ? read_graph(*config.file, config.topology.directed)
                       : draw_graph(config.topology);
}

/// @param plan null where no noise is planned.
BuiltTopography built_topography(const GraphConfig& config, const PlanConfig* plan, long rounds) {
    DescribedGraph made = configured_graph(config);
    if (!made.graph.connected())
        throw ConfigError(
            "graph: it is not connected; agents in different parts could never agree");
    auto [graph, matrices] = schedule_of(config, plan, rounds, std::move(made.graph));
    if (config.mixing_schedule != "fixed")
        made.description += fmt::format(", mixing schedule {} of {} round{}",
                                        config.mixing_schedule,
                                        matrices.size(),
                                        matrices.size() == 1 ? "" : "s");
    if (is_optimised(config)) made.notes.push_back(note_on_mixing(plan));
    MixingMatrix first = std::move(matrices.front());
    matrices.erase(matrices.begin());
    return {{std::move(graph), std::move(first), std::move(matrices)},
            std::move(made.description),
            std::move(made.notes)};
}

}  // namespace

BuiltTopography build_topography(const GraphConfig& config, const PlanConfig& plan) {
    return built_topography(config, &plan, plan.rounds);
}

BuiltTopography build_topography(const GraphConfig& config, long rounds) {
    return built_topography(config, nullptr, rounds);
}

double most_mixing_matrices(const GraphConfig& config, long rounds) {
    if (config.mixing_schedule == "fixed") return 1;
    constexpr double hops = 32;  // of one-peer
    const double most = std::max(hops, static_cast<double>(rounds));
    std::error_code missing;
    const auto bytes = std::filesystem::file_size(config.mixing_schedule, missing);
    return missing ? most : std::max(most, static_cast<double>(bytes) / sizeof(double));
}

int agents_of(const GraphConfig& config) {
    return config.file || config.agreed ? configured_graph(config).graph.agents()
                                        : config.topology.agents;
}

}  // namespace sotto
