#include "sotto/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace

Graph Graph::from_edges(int agents, std::vector<Edge> edges, std::vector<std::string> labels) {
    if (agents < 1)
        throw ConfigError(fmt::format("agents: {} given; a graph needs at least 1", agents));
    for (Edge& edge : edges) {
        check_edge(edge, agents);
        if (edge.first > edge.second) std::swap(edge.first, edge.second);
    }
    std::erase_if(edges, [](const Edge& edge) { return edge.first == edge.second; });
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

    if (labels.empty())
        for (int u = 0; u < agents; ++u) labels.push_back(std::to_string(u));
    else
        check_labels(labels, agents);

    Graph graph;
    graph.agents_ = agents;
    graph.edges_ = std::move(edges);
    graph.labels_ = std::move(labels);

    const auto n = static_cast<std::size_t>(agents);
    graph.offset_.assign(n + 1, 0);
    for (const auto& [u, v] : graph.edges_) {
        ++graph.offset_[static_cast<std::size_t>(u) + 1];
        ++graph.offset_[static_cast<std::size_t>(v) + 1];
    }
    for (std::size_t u = 0; u < n; ++u) graph.offset_[u + 1] += graph.offset_[u];

    // Edges come in ascending order, so one pass fills the lower neighbours of every agent and a
    // second one the higher, and every list is ascending without sorting.
    graph.neighbours_.resize(graph.offset_.back());
    std::vector<std::size_t> next(graph.offset_.begin(), graph.offset_.end() - 1);
    for (const auto& [u, v] : graph.edges_)
        graph.neighbours_[next[static_cast<std::size_t>(v)]++] = u;
    for (const auto& [u, v] : graph.edges_)
        graph.neighbours_[next[static_cast<std::size_t>(u)]++] = v;

    graph.closed_.reserve(graph.neighbours_.size() + n);
    for (int u = 0; u < agents; ++u) {
        const auto around = graph.neighbours(u);
        const auto middle = std::lower_bound(around.begin(), around.end(), u);
        graph.closed_.insert(graph.closed_.end(), around.begin(), middle);
        graph.closed_.push_back(u);
        graph.closed_.insert(graph.closed_.end(), middle, around.end());
    }
    return graph;
}

std::span<const int> Graph::neighbours(int u) const {
    const auto i = static_cast<std::size_t>(u);
    return {neighbours_.data() + offset_[i], offset_[i + 1] - offset_[i]};
}

std::span<const int> Graph::closed_neighbourhood(int u) const {
    const auto i = static_cast<std::size_t>(u);
    return {closed_.data() + offset_[i] + i, offset_[i + 1] - offset_[i] + 1};
}

const std::string& Graph::label(int u) const { return labels_[static_cast<std::size_t>(u)]; }

std::vector<int> Graph::components() const {
    std::vector<int> component(static_cast<std::size_t>(agents_), -1);
    std::vector<int> pending;
    int count = 0;
    for (int start = 0; start < agents_; ++start) {
        if (component[static_cast<std::size_t>(start)] >= 0) continue;
        component[static_cast<std::size_t>(start)] = count;
        pending.push_back(start);
        while (!pending.empty()) {
            const int u = pending.back();
            pending.pop_back();
            for (const int v : neighbours(u)) {
                int& of_v = component[static_cast<std::size_t>(v)];
                if (of_v >= 0) continue;
                of_v = count;
                pending.push_back(v);
            }
        }
        ++count;
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
    std::vector<Edge> edges;
    for (const auto& [u, v] : edges_) {
        const int a = place[static_cast<std::size_t>(u)], b = place[static_cast<std::size_t>(v)];
        if (a >= 0 && b >= 0) edges.emplace_back(a, b);
    }
    return from_edges(static_cast<int>(kept.size()), std::move(edges), std::move(labels));
}

Digest Graph::hash() const {
    Hasher hasher("sotto.graph.v1");
    hasher.add(std::int64_t{agents_}).add(static_cast<std::int64_t>(edges_.size()));
    for (const auto& [u, v] : edges_) hasher.add(std::int64_t{u}).add(std::int64_t{v});
    return hasher.finish();
}

}  // namespace sotto
