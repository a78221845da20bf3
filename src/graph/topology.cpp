#include "sotto/graph/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

constexpr int most_attempts = 1000;

constexpr NameTable<Topology, 10> topology_table{{{
    {Topology::erdos_renyi, "erdos-renyi"},
    {Topology::ring, "ring"},
    {Topology::path, "path"},
    {Topology::star, "star"},
    {Topology::grid, "grid"},
    {Topology::torus, "torus"},
    {Topology::complete, "complete"},
    {Topology::hypercube, "hypercube"},
    {Topology::exponential, "exponential"},
    {Topology::geometric, "geometric"},
}}};

/// Rows of the squarest rows x columns = agents with rows <= columns and both sides at least
/// `least`; 0 if there is none.
int squarest_rows(int agents, int least) {
    auto rows = static_cast<int>(std::sqrt(static_cast<double>(agents)));
    for (; rows >= least; --rows)
        if (agents % rows == 0) return rows;
    return 0;
}

std::string allowed_sizes(int agents, int least) {
    const auto fits = [least](int n) { return squarest_rows(n, least) > 0; };
    int below = agents - 1;
    while (below > 1 && !fits(below)) --below;
    int above = agents + 1;
    while (!fits(above)) ++above;
    return below > 1 ? fmt::format("{} or {}", below, above) : fmt::format("{}", above);
}

std::vector<Edge> ring_edges(int agents) {
    std::vector<Edge> edges;
    for (int u = 0; u < agents; ++u) edges.emplace_back(u, (u + 1) % agents);
    return edges;
}

std::vector<Edge> path_edges(int agents) {
    std::vector<Edge> edges;
    for (int u = 0; u + 1 < agents; ++u) edges.emplace_back(u, u + 1);
    return edges;
}

std::vector<Edge> star_edges(int agents) {
    std::vector<Edge> edges;
    for (int u = 1; u < agents; ++u) edges.emplace_back(0, u);
    return edges;
}

std::vector<Edge> complete_edges(int agents) {
    std::vector<Edge> edges;
    for (int u = 0; u < agents; ++u)
        for (int v = u + 1; v < agents; ++v) edges.emplace_back(u, v);
    return edges;
}

/// Agent r * columns + c stands at row r, column c.
std::vector<Edge> lattice_edges(int agents, bool wrap_around) {
    if (agents == 1) return {};
    const int least = wrap_around ? 3 : 2;
    const int rows = squarest_rows(agents, least);
    if (rows == 0)
        throw ConfigError(
            fmt::format("agents: {} given; a {} needs rows * columns with both at least {}; try {}",
                        agents,
                        wrap_around ? "torus" : "grid",
                        least,
                        allowed_sizes(agents, least)));
    const int columns = agents / rows;
    std::vector<Edge> edges;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) {
            const int u = r * columns + c;
            if (c + 1 < columns || wrap_around)
                edges.emplace_back(u, r * columns + (c + 1) % columns);
            if (r + 1 < rows || wrap_around) edges.emplace_back(u, (r + 1) % rows * columns + c);
        }
    return edges;
}

std::vector<Edge> hypercube_edges(int agents) {
    const auto n = static_cast<unsigned>(agents);
    if (!std::has_single_bit(n)) {
        const unsigned below = std::bit_floor(n);
        throw ConfigError(
            fmt::format("agents: {} given; a hypercube needs a power of two; try {} or {}",
                        agents,
                        below,
                        2 * below));
    }
    std::vector<Edge> edges;
    for (unsigned u = 0; u < n; ++u)
        for (unsigned bit = 1; bit < n; bit *= 2)
            if ((u & bit) == 0) edges.emplace_back(static_cast<int>(u), static_cast<int>(u | bit));
    return edges;
}

std::vector<Edge> exponential_edges(int agents) {
    std::vector<Edge> edges;
    for (int u = 0; u < agents; ++u)
        for (long long hop = 1; hop < agents; hop *= 2)
            edges.emplace_back(u, static_cast<int>((u + hop) % agents));
    return edges;
}

std::vector<Edge> draw_erdos_renyi(int agents, double probability, SeededRandom& random) {
    std::vector<Edge> edges;
    for (int u = 0; u < agents; ++u)
        for (int v = u + 1; v < agents; ++v)
            if (random.uniform() < probability) edges.emplace_back(u, v);
    return edges;
}

std::vector<Arc> draw_arcs(int agents, double probability, SeededRandom& random) {
    std::vector<Arc> arcs;
    for (int u = 0; u < agents; ++u)
        for (int v = 0; v < agents; ++v)
            if (u != v && random.uniform() < probability) arcs.emplace_back(u, v);
    return arcs;
}

std::vector<Edge> draw_geometric(int agents, double radius, SeededRandom& random) {
    std::vector<std::pair<double, double>> points;
    for (int u = 0; u < agents; ++u) {
        const double x = random.uniform();
        const double y = random.uniform();
        points.emplace_back(x, y);
    }
    std::vector<Edge> edges;
    for (int u = 0; u < agents; ++u)
        for (int v = u + 1; v < agents; ++v) {
            const auto& [x, y] = points[static_cast<std::size_t>(u)];
            const auto& [a, b] = points[static_cast<std::size_t>(v)];
            if ((x - a) * (x - a) + (y - b) * (y - b) < radius * radius) edges.emplace_back(u, v);
        }
    return edges;
}

template <class Draw>
std::optional<GeneratedGraph> draw_until_connected(Draw&& draw) {
    for (int attempt = 1; attempt <= most_attempts; ++attempt) {
        Graph graph = draw();
        if (graph.connected()) return GeneratedGraph{std::move(graph), attempt};
    }
    return std::nullopt;
}

/// Whether all draws together have less than one chance in a million, so that drawing would only
/// waste minutes. Search from agent 0: a connected graph must join each of the other n-1 agents to
/// one of the at most n-1 agents searched before, independently, so
/// P(connected) <= (1 - (1-p)^(n-1))^(n-1). In a directed graph each of them must hear somebody:
/// the same bound.
bool hopeless(int agents, double probability) {
    if (agents < 2) return false;
    const double others = agents - 1;
    const double log_alone = others * std::log1p(-probability);
    const double log_connected = others * std::log1p(-std::exp(log_alone));
    return log_connected < std::log(1e-6 / most_attempts);
}

GeneratedGraph make_erdos_renyi(const TopologySpec& spec) {
    const double probability = spec.edge_probability;
    if (!(probability > 0 && probability <= 1))
        throw ConfigError(fmt::format(
            "edge probability: {} given; it must be greater than 0 and at most 1", probability));
    if (!hopeless(spec.agents, probability)) {
        SeededRandom random(spec.graph_seed, "sotto.graph.erdos-renyi");
        auto drawn = draw_until_connected([&] {
            return Graph::from_links(spec.agents,
                                     spec.directed,
                                     spec.directed
                                         ? draw_arcs(spec.agents, probability, random)
                                         : draw_erdos_renyi(spec.agents, probability, random));
        });
        if (drawn) return std::move(*drawn);
    }
    const double n = spec.agents;
    throw ConfigError(fmt::format(
        "edge probability: with {:.6g}, {} draws of {} agents give no connected graph; try {:.2g}",
        probability,
        most_attempts,
        spec.agents,
        std::min(1.0, 2 * std::log(n) / n)));
}

GeneratedGraph make_geometric(const TopologySpec& spec) {
    const double n = spec.agents;
    const double usual_radius = 1.5 * std::sqrt(std::log(n) / (std::numbers::pi * n));
    const double radius = spec.radius.value_or(usual_radius);
    if (spec.radius) require_positive("radius", radius);
    SeededRandom random(spec.graph_seed, "sotto.graph.geometric");
    auto drawn = draw_until_connected([&] {
        return Graph::from_edges(spec.agents, draw_geometric(spec.agents, radius, random));
    });
    if (drawn) return std::move(*drawn);
    throw ConfigError(fmt::format(
        "radius: with {:.6g}, {} draws of {} agents give no connected graph; try {:.2g}",
        radius,
        most_attempts,
        spec.agents,
        std::max(usual_radius, 1.5 * radius)));
}

std::vector<Edge> fixed_edges(Topology topology, int agents) {
    switch (topology) {
        case Topology::ring:
            return ring_edges(agents);
        case Topology::path:
            return path_edges(agents);
        case Topology::star:
            return star_edges(agents);
        case Topology::grid:
            return lattice_edges(agents, false);
        case Topology::torus:
            return lattice_edges(agents, true);
        case Topology::complete:
            return complete_edges(agents);
        case Topology::hypercube:
            return hypercube_edges(agents);
        case Topology::exponential:
            return exponential_edges(agents);
        case Topology::erdos_renyi:
        case Topology::geometric:
            break;
    }
    throw Error(ExitCode::other, "a random family has no fixed edges");
}

/// Families whose edges have a direction of their own.
void require_directed_family(Topology topology) {
    constexpr std::array families{
        Topology::erdos_renyi, Topology::ring, Topology::torus, Topology::exponential};
    if (std::ranges::find(families, topology) != families.end()) return;
    std::vector<std::string> names;
    for (const Topology family : families) names.push_back(name_of(family));
    throw ConfigError(
        fmt::format("directed: on is not possible with topology {} (allowed: {}, or --graph FILE)",
                    name_of(topology),
                    join(names)));
}

}  // namespace

Topology parse_topology(std::string_view option, std::string_view text) try {
    return topology_table.parse(option, text);
} catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}; a graph of your own is --graph FILE", error.what()));
}

std::string name_of(Topology topology) { return topology_table.name_of(topology); }

std::vector<std::string> topology_names() { return topology_table.names(); }

GeneratedGraph make_topology(const TopologySpec& spec) {
    if (spec.agents < 1)
        throw ConfigError(fmt::format("agents: {} given; a graph needs at least 1", spec.agents));
    if (spec.directed) require_directed_family(spec.topology);
    if (spec.topology == Topology::erdos_renyi) return make_erdos_renyi(spec);
    if (spec.topology == Topology::geometric) return make_geometric(spec);
    return {Graph::from_links(spec.agents, spec.directed, fixed_edges(spec.topology, spec.agents)),
            1};
}

}  // namespace sotto
