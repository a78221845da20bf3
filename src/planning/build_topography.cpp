#include "planning/build_topography.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "core/files.hpp"
#include "core/json.hpp"
#include "core/linear_algebra.hpp"
#include "core/recent.hpp"
#include "design/seed_groups.hpp"
#include "graph/edge_list.hpp"
#include "graph/spectrum.hpp"
#include "planning/planning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mixing_design.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/graph/mixing_schedule.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

/// A graph and how it was made.
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

/// Mixing with the same matrix in every round.
MixingMatrix fixed_mixing(const GraphConfig& config, const PlanConfig* plan, const Graph& graph) {
    std::vector<int> everybody(static_cast<std::size_t>(graph.agents()));
    std::iota(everybody.begin(), everybody.end(), 0);
    return configured_mixing(config, plan, graph, everybody);
}

/// Matrices of one period and their graph; for random matrices, the union of their graphs.
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

/// @param plan null if no noise is planned.
BuiltTopography built_topography(const GraphConfig& config, const PlanConfig* plan, long rounds) {
    DescribedGraph made = configured_graph(config);
    if (!made.graph.connected())
        throw ConfigError(
            "graph: it is not connected, so agents in different parts could never agree (allowed: "
            "a connected graph)");
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

namespace {

Digest digest_of_input(const MixingDesignInput& input) {
    Hasher hasher("sotto.mixing-problem.v1");
    hasher.add_bytes(input.graph->hash());
    hasher.add(input.mechanism != nullptr ? input.mechanism->name : "");
    hasher.add(name_of(input.utility)).add(std::int64_t{input.rounds});
    hasher.add(name_of(input.gossip_rule));
    hasher.add(input.smoothing.momentum).add(input.smoothing.decay);
    hasher.add(std::int64_t{input.smoothing.tail_rounds});
    hasher.add(std::int64_t{input.gossip_steps}).add(std::int64_t{input.coalition_size});
    hasher.add(std::int64_t{input.common_variance}).add(input.variance_cap).add(input.gap);
    add_to(hasher, input.seed_groups);
    if (input.covariance) hasher.add(values_of(*input.covariance));
    return hasher.finish();
}

/// R of --plan FILE for the remaining agents; none for a plan without noise.
std::optional<Eigen::MatrixXd> given_covariance(const NoisePlan& plan, std::span<const int> kept) {
    if (plan.noiseless()) return std::nullopt;
    if (!plan.same_message_to_all() || plan.entry != NoiseEntry::gradient ||
        plan.distribution() != StreamDistribution::gaussian ||
        plan.temporal.kind != TemporalFactor::Kind::identity ||
        plan.aggregation != Aggregation::gossip)
        throw ConfigError(fmt::format(
            "mixing: optimised is not possible with this plan of mechanism {} (allowed: another "
            "--mixing, or a plan of Gaussian noise on gradients that is independent between "
            "rounds)",
            plan.mechanism));
    const std::vector<int> places(kept.begin(), kept.end());
    const Eigen::MatrixXd covariance = spatial_covariance(plan);
    return covariance(places, places);
}

/// Seed groups of the remaining agents, by their new places.
std::vector<SeedGroup> groups_between(const std::vector<SeedGroup>& groups,
                                      std::span<const int> kept) {
    std::vector<SeedGroup> result;
    for (const SeedGroup& group : groups) {
        SeedGroup between;
        for (const int member : group.members) {
            const auto place = std::ranges::lower_bound(kept, member);
            if (place != kept.end() && *place == member)
                between.members.push_back(static_cast<int>(place - kept.begin()));
        }
        if (between.members.size() > 1) result.push_back(std::move(between));
    }
    return result;
}

/// @param between the connected graph of the remaining agents.
MixingDesignInput mixing_input(const PlanConfig& plan,
                               const Graph& graph,
                               std::span<const int> kept,
                               const Graph& between) {
    MixingDesignInput input;
    input.graph = &between;
    input.utility = plan.utility;
    input.rounds = plan.rounds;
    input.gossip_rule = plan.gossip;
    input.gossip_steps = plan.gossip_steps;
    input.smoothing.momentum = plan.momentum;
    input.smoothing.set_average(plan.average, plan.steps.first_round + plan.rounds);
    input.variance_cap = plan.variance_cap;
    input.gap = plan.plan_gap.value_or(default_gap(between.agents()));
    if (const auto given = read_given_plan(plan, graph.agents())) {
        input.covariance = given_covariance(*given, kept);
        return input;
    }
    if (plan.covariance_file) {
        const Eigen::MatrixXd given = read_npy(*plan.covariance_file);
        const std::vector<int> places(kept.begin(), kept.end());
        // design_mixing refuses another size.
        if (given.rows() == graph.agents() && given.cols() == graph.agents()) {
            input.covariance = given(places, places);
            return input;
        }
    }
    const Mechanism& mechanism = find_mechanism("mechanism", plan.mechanism);
    if (!mechanism.needs_budget) return input;
    input.mechanism = &mechanism;
    if (!shapes_mixing(mechanism)) return input;  // refused later
    input.common_variance = plan.common_variance || mechanism.common_variance;
    input.coalition_size =
        std::min(coalition_size_of(plan, graph.agents(), nullptr), between.agents() - 1);
    if (shares_by_groups(plan, mechanism))
        input.seed_groups = kept.size() == static_cast<std::size_t>(graph.agents()) ||
                                    is_seed_group_file(plan.seed_groups)
                                ? groups_between(configured_seed_groups(plan, graph), kept)
                                : configured_seed_groups(plan, between);
    return input;
}

bool averages_exactly(const PlanConfig* plan) {
    return plan != nullptr && !plan->plan_file &&
           find_mechanism("mechanism", plan->mechanism).aggregation == Aggregation::trusted_mean;
}

MixingMatrix designed_mixing(const PlanConfig* plan,
                             const Graph& graph,
                             std::span<const int> kept) {
    static Recent<MixingMatrix> recent;
    const Graph between = graph.induced_subgraph(kept);
    if (averages_exactly(plan)) return MixingMatrix::from_rule(between, MixingRule::metropolis);
    PlanConfig without;
    without.mechanism = "none";
    const MixingDesignInput input =
        mixing_input(plan != nullptr ? *plan : without, graph, kept, between);
    return recent.get(
        digest_of_input(input),
        [&] { return design_mixing(input).mixing; },
        [](const MixingMatrix& mixing) {
            return (sizeof(double) + sizeof(int)) *
                   static_cast<std::size_t>(mixing.sparse().nonZeros());
        });
}

/// Designs each connected part separately.
MixingMatrix designed_in_parts(const PlanConfig* plan,
                               const Graph& graph,
                               std::span<const int> kept) {
    const Graph between = graph.induced_subgraph(kept);
    if (between.connected()) return designed_mixing(plan, graph, kept);
    const std::vector<int> part_of = between.components();
    const int parts = 1 + *std::ranges::max_element(part_of);
    std::vector<MixingMatrix> designed;
    std::vector<int> place_in_part(static_cast<std::size_t>(between.agents()));
    for (int part = 0; part < parts; ++part) {
        std::vector<int> numbers;
        for (int place = 0; place < between.agents(); ++place) {
            if (part_of[static_cast<std::size_t>(place)] != part) continue;
            place_in_part[static_cast<std::size_t>(place)] = static_cast<int>(numbers.size());
            numbers.push_back(kept[static_cast<std::size_t>(place)]);
        }
        designed.push_back(designed_mixing(plan, graph, numbers));
    }
    return MixingMatrix::from_weights(between, [&](int u, int v) {
        const auto at = static_cast<std::size_t>(u), other = static_cast<std::size_t>(v);
        return designed[static_cast<std::size_t>(part_of[at])].weight(place_in_part[at],
                                                                      place_in_part[other]);
    });
}

}  // namespace

MixingMatrix configured_mixing(const GraphConfig& config,
                               const PlanConfig* plan,
                               const Graph& graph,
                               std::span<const int> kept) {
    if (is_optimised(config)) return designed_in_parts(plan, graph, kept);
    std::error_code ignored;
    if (!is_mixing_rule(config.mixing) && !std::filesystem::exists(config.mixing, ignored)) {
        const ConfigError unknown =
            unknown_name_error("mixing", config.mixing, mixing_rule_names());
        throw ConfigError(fmt::format("{} (and there is no such file)", unknown.what()));
    }
    return make_mixing(graph.induced_subgraph(kept), config.mixing);
}

std::string note_on_mixing(const PlanConfig* plan) {
    const std::string made = "mixing weights are optimised for ";
    if (plan == nullptr)
        return made + "independent noise, utility " + name_of(PlanConfig{}.utility);
    if (plan->plan_file) return made + "the noise of " + *plan->plan_file;
    const Mechanism& mechanism = find_mechanism("mechanism", plan->mechanism);
    if (averages_exactly(plan))
        return fmt::format("mixing weights are not optimised: mechanism {} averages exactly",
                           mechanism.name);
    return fmt::format("{}{}, utility {}",
                       made,
                       mechanism.needs_budget ? "mechanism " + mechanism.name : "independent noise",
                       name_of(plan->utility));
}

namespace {

const char* kind_of(const GraphReport& report) {
    if (report.doubly_stochastic) return "doubly stochastic";
    return report.push_sum ? "column-stochastic" : "row-stochastic";
}

}  // namespace

GraphReport describe_graph(const BuiltTopography& built, std::string mixing) {
    const Graph& graph = built.topography.graph;
    GraphReport report;
    report.description = built.description;
    report.notes = built.notes;
    report.mixing = std::move(mixing);
    report.agents = graph.agents();
    report.edges = graph.links().size();
    report.directed = graph.directed();
    report.connected = graph.connected();
    const auto heard = [&](int u) { return static_cast<int>(graph.heard(u).size()); };
    report.degree_min = report.degree_max = heard(0);
    for (int u = 1; u < graph.agents(); ++u) {
        report.degree_min = std::min(report.degree_min, heard(u));
        report.degree_max = std::max(report.degree_max, heard(u));
    }
    const MixingMatrix& weights = built.topography.mixing;
    report.lambda2 = second_eigenvalue_modulus(weights);
    report.doubly_stochastic = weights.doubly_stochastic();
    report.push_sum = weights.push_sum();
    const Eigen::VectorXd perron = graph.agents() * perron_vector(weights);
    report.perron_min = perron.minCoeff();
    report.perron_max = perron.maxCoeff();
    report.graph_hash = to_hex(graph.hash());
    return report;
}

std::string graph_report_json(const GraphReport& report) {
    nlohmann::ordered_json json;
    json["agents"] = report.agents;
    json["edges"] = report.edges;
    json["directed"] = report.directed;
    json["connected"] = report.connected;
    json["mixing"] = report.mixing;
    json["lambda2"] = report.lambda2;
    json["spectral_gap"] = 1 - report.lambda2;
    json["degree_min"] = report.degree_min;
    json["degree_max"] = report.degree_max;
    json["doubly_stochastic"] = report.doubly_stochastic;
    json["perron_min"] = report.perron_min;
    json["perron_max"] = report.perron_max;
    json["graph_hash"] = report.graph_hash;
    json["notes"] = report.notes;
    return to_text(json);
}

std::string graph_report_text(const GraphReport& report) {
    std::string text = fmt::format("graph    {}\n", report.description);
    for (const auto& note : report.notes) text += fmt::format("note     {}\n", note);
    text += fmt::format("agents   {}, {} {}connected, {} {} to {}\n",
                        report.agents,
                        report.edges,
                        report.directed ? "directed edges, strongly " : "edges, ",
                        report.directed ? "everyone hears" : "degree",
                        report.degree_min,
                        report.degree_max);
    text += fmt::format("mixing   {} ({}), lambda2 {:.10g}, spectral gap {:.10g}\n",
                        report.mixing,
                        kind_of(report),
                        report.lambda2,
                        1 - report.lambda2);
    if (report.doubly_stochastic) return text;
    const std::string range = fmt::format("{:.4g} to {:.4g}", report.perron_min, report.perron_max);
    text +=
        report.push_sum
            ? fmt::format("weights  {} of push-sum; all agents count equally\n", range)
            : fmt::format(
                  "weights  in the result, agents count {} times as much as with equal weights\n",
                  range);
    return text;
}

}  // namespace sotto
