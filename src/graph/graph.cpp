#include "sotto/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <iterator>
#include <numeric>
#include <unordered_set>

#include "sotto/core/error.hpp"

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

}  // namespace sotto
