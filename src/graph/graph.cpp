#include "sotto/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

void check_edge(const Edge& edge, int agents) {
    const auto inside = [agents](int u) { return u >= 0 && u < agents; };
    if (inside(edge.first) && inside(edge.second)) return;
    throw ConfigError(fmt::format(
        "edge {} - {}: agents are numbered 0 to {}", edge.first, edge.second, agents - 1));
}

void check_labels(const std::vector<std::string>& labels, int agents) {
    if (labels.size() != static_cast<std::size_t>(agents))
        throw ConfigError(fmt::format(
            "graph labels: {} given for {} agents; give one each", labels.size(), agents));
    std::unordered_set<std::string_view> seen;
    for (const std::string& label : labels)
        if (!seen.insert(label).second)
            throw ConfigError(fmt::format(
                "graph labels: \"{}\" is used twice; every agent needs its own", label));
}

void sort_once(std::vector<std::pair<int, int>>& pairs) {
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

void turn(std::vector<std::pair<int, int>>& pairs) {
    for (auto& [first, second] : pairs) std::swap(first, second);
    std::sort(pairs.begin(), pairs.end());
}

}  // namespace

Graph Graph::from_edges(int agents, std::vector<Edge> edges, std::vector<std::string> labels) {
    const std::size_t given = edges.size();
    edges.reserve(2 * given);
    for (std::size_t i = 0; i < given; ++i) edges.emplace_back(edges[i].second, edges[i].first);
    return {agents, false, std::move(edges), std::move(labels)};
}

Graph Graph::from_arcs(int agents, std::vector<Arc> arcs, std::vector<std::string> labels) {
    return {agents, true, std::move(arcs), std::move(labels)};
}

Graph Graph::from_links(int agents,
                        bool directed,
                        std::vector<std::pair<int, int>> links,
                        std::vector<std::string> labels) {
    return directed ? from_arcs(agents, std::move(links), std::move(labels))
                    : from_edges(agents, std::move(links), std::move(labels));
}

/// @param pairs ascending.
Graph::Lists Graph::seconds_by_first(int agents, std::span<const std::pair<int, int>> pairs) {
    Lists lists;
    lists.starts.assign(static_cast<std::size_t>(agents) + 1, 0);
    for (const auto& [first, second] : pairs) {
        ++lists.starts[static_cast<std::size_t>(first) + 1];
        lists.values.push_back(second);
    }
    std::partial_sum(lists.starts.begin(), lists.starts.end(), lists.starts.begin());
    return lists;
}

Graph::Graph(int agents, bool directed, std::vector<Arc> arcs, std::vector<std::string> labels)
    : agents_(agents), directed_(directed), labels_(std::move(labels)) {
    if (agents < 1)
        throw ConfigError(fmt::format("agents: {} given; a graph needs at least 1", agents));
    for (const Arc& arc : arcs) check_edge(arc, agents);
    std::erase_if(arcs, [](const Arc& arc) { return arc.first == arc.second; });
    sort_once(arcs);

    if (labels_.empty())
        for (int u = 0; u < agents; ++u) labels_.push_back(std::to_string(u));
    else
        check_labels(labels_, agents);

    hearers_ = seconds_by_first(agents, arcs);
    std::vector<std::pair<int, int>> both = arcs;
    turn(arcs);
    heard_ = seconds_by_first(agents, arcs);
    both.insert(both.end(), arcs.begin(), arcs.end());
    sort_once(both);
    neighbours_ = seconds_by_first(agents, both);
    std::ranges::copy_if(both, std::back_inserter(edges_), [](const Edge& edge) {
        return edge.first < edge.second;
    });
    for (int u = 0; u < agents; ++u) both.emplace_back(u, u);
    std::sort(both.begin(), both.end());
    closed_ = seconds_by_first(agents, both);
}

std::vector<Arc> Graph::arcs() const {
    std::vector<Arc> result;
    for (int u = 0; u < agents_; ++u)
        for (const int v : hearers(u)) result.emplace_back(u, v);
    return result;
}

std::vector<std::pair<int, int>> Graph::links() const { return directed_ ? arcs() : edges_; }

bool Graph::hears(int receiver, int sender) const {
    return std::ranges::binary_search(heard(receiver), sender);
}

const std::string& Graph::label(int u) const { return labels_[static_cast<std::size_t>(u)]; }

std::vector<int> Graph::components() const {
    using Arcs = boost::compressed_sparse_row_graph<boost::directedS>;
    const std::vector<Arc> links = arcs();
    const Arcs graph(
        boost::edges_are_sorted, links.begin(), links.end(), static_cast<std::size_t>(agents_));
    std::vector<int> component(static_cast<std::size_t>(agents_));
    const auto of_vertex =
        boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, graph));
    boost::strong_components(graph, of_vertex);
    std::vector<int> number(component.size(), -1);
    int count = 0;
    for (int& c : component) {
        int& by_lowest = number[static_cast<std::size_t>(c)];
        if (by_lowest < 0) by_lowest = count++;
        c = by_lowest;
    }
    return component;
}

bool Graph::connected() const {
    const std::vector<int> component = components();
    return std::all_of(component.begin(), component.end(), [](int c) { return c == 0; });
}

std::vector<int> Graph::distances_from(int source) const {
    if (source < 0 || source >= agents_)
        throw ConfigError(
            fmt::format("agent {}: agents are numbered 0 to {}", source, agents_ - 1));
    std::vector<int> distance(static_cast<std::size_t>(agents_), -1);
    std::vector<int> queue{source};
    queue.reserve(static_cast<std::size_t>(agents_));
    distance[static_cast<std::size_t>(source)] = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
        const int u = queue[head];
        for (const int v : neighbours(u)) {
            int& of_v = distance[static_cast<std::size_t>(v)];
            if (of_v >= 0) continue;
            of_v = distance[static_cast<std::size_t>(u)] + 1;
            queue.push_back(v);
        }
    }
    return distance;
}

Graph Graph::induced_subgraph(std::span<const int> kept) const {
    std::vector<int> place(static_cast<std::size_t>(agents_), -1);
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        place[static_cast<std::size_t>(kept[i])] = static_cast<int>(i);
        labels.push_back(label(kept[i]));
    }
    std::vector<Arc> between;
    for (const auto& [u, v] : arcs()) {
        const int a = place[static_cast<std::size_t>(u)], b = place[static_cast<std::size_t>(v)];
        if (a >= 0 && b >= 0) between.emplace_back(a, b);
    }
    return {static_cast<int>(kept.size()), directed_, std::move(between), std::move(labels)};
}

Digest Graph::hash() const {
    Hasher hasher(directed_ ? "sotto.graph.directed.v1" : "sotto.graph.v1");
    const auto pairs = links();
    hasher.add(std::int64_t{agents_}).add(std::ssize(pairs));
    for (const auto& [u, v] : pairs) hasher.add(std::int64_t{u}).add(std::int64_t{v});
    return hasher.finish();
}

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

/// Number of rows of the squarest rows x columns = agents with rows <= columns and both sides at
/// least `least`; 0 if there is none.
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

/// Calls take(v) for every v of [first, end) with the same probability, independently, by drawing
/// how many are passed over until the next. Cost: one number for each that is taken.
template <class Take>
void take_some(int first, int end, double log_passed, SeededRandom& random, Take&& take) {
    for (double next = first;; ++next) {
        next += std::floor(std::log1p(-random.uniform()) / log_passed);
        if (!(next < end)) return;
        take(static_cast<int>(next));
    }
}

/// Pairs (u, v), each with the same probability: v > u, or all v other than u if directed. Up to
/// most_pairwise agents one number is drawn for each pair, above them one for each link.
std::vector<std::pair<int, int>> draw_erdos_renyi(const TopologySpec& spec, SeededRandom& random) {
    constexpr int most_pairwise = 1 << 14;
    const double probability = spec.edge_probability;
    const bool pairwise = spec.agents <= most_pairwise || probability == 1;
    std::vector<std::pair<int, int>> links;
    for (int u = 0; u < spec.agents; ++u) {
        const int first = spec.directed ? 0 : u + 1;
        const auto add = [&](int v) {
            if (u != v) links.emplace_back(u, v);
        };
        if (!pairwise) {
            take_some(first, spec.agents, std::log1p(-probability), random, add);
            continue;
        }
        for (int v = first; v < spec.agents; ++v)
            if (u != v && random.uniform() < probability) add(v);
    }
    return links;
}

/// Whether an agent hears nobody or is heard by nobody, so that the graph cannot be connected.
bool leaves_one_alone(const TopologySpec& spec, const std::vector<std::pair<int, int>>& links) {
    if (spec.agents == 1) return false;
    std::vector<bool> sends(static_cast<std::size_t>(spec.agents)), hears = sends;
    for (const auto& [u, v] : links)
        sends[static_cast<std::size_t>(u)] = hears[static_cast<std::size_t>(v)] = true;
    for (std::size_t u = 0; u < sends.size(); ++u)
        if (spec.directed ? !(sends[u] && hears[u]) : !(sends[u] || hears[u])) return true;
    return false;
}

std::vector<Edge> draw_geometric(int agents, double radius, SeededRandom& random) {
    std::vector<std::pair<double, double>> points;
    for (int u = 0; u < agents; ++u) {
        const double x = random.uniform();
        const double y = random.uniform();
        points.emplace_back(x, y);
    }
    // Points nearer than the radius are in the same square or in one beside it.
    const double most = std::ceil(std::sqrt(agents));
    const auto side = static_cast<int>(std::clamp(std::floor(0.999 / radius), 1.0, most));
    const auto square_of = [side](double at) {
        return std::min(static_cast<int>(at * side), side - 1);
    };
    std::vector<std::vector<int>> squares(static_cast<std::size_t>(side) *
                                          static_cast<std::size_t>(side));
    const auto square = [&](int row, int column) -> auto& {
        return squares[static_cast<std::size_t>(row) * static_cast<std::size_t>(side) +
                       static_cast<std::size_t>(column)];
    };
    std::vector<Edge> edges;
    for (int u = 0; u < agents; ++u) {
        const auto& [x, y] = points[static_cast<std::size_t>(u)];
        const int row = square_of(x), column = square_of(y);
        for (int r = std::max(row - 1, 0); r <= std::min(row + 1, side - 1); ++r)
            for (int c = std::max(column - 1, 0); c <= std::min(column + 1, side - 1); ++c)
                for (const int v : square(r, c)) {
                    const auto& [a, b] = points[static_cast<std::size_t>(v)];
                    if ((x - a) * (x - a) + (y - b) * (y - b) < radius * radius)
                        edges.emplace_back(v, u);
                }
        square(row, column).push_back(u);
    }
    return edges;
}

/// @param draw links.
template <class Draw>
std::optional<GeneratedGraph> draw_until_connected(const TopologySpec& spec, Draw&& draw) {
    for (int attempt = 1; attempt <= most_attempts; ++attempt) {
        std::vector<std::pair<int, int>> links = draw();
        if (leaves_one_alone(spec, links)) continue;
        Graph graph = Graph::from_links(spec.agents, spec.directed, std::move(links));
        if (graph.connected()) return GeneratedGraph{std::move(graph), attempt};
    }
    return std::nullopt;
}

/// Whether all draws together succeed with a chance below one in a million. In a search from agent
/// 0 of a connected graph, each of the other n-1 agents must be joined to one of the at most n-1
/// agents before, independently, so P(connected) <= (1 - (1-p)^(n-1))^(n-1). In a directed graph
/// each must hear some agent: the same bound.
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
        auto drawn = draw_until_connected(spec, [&] { return draw_erdos_renyi(spec, random); });
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
    auto drawn =
        draw_until_connected(spec, [&] { return draw_geometric(spec.agents, radius, random); });
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

/// Families with a directed form.
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
