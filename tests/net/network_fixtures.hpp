#pragma once

// Graphs and messages that every process can compute for itself, so that what arrives can be
// compared with what must arrive without asking anybody.

#include <Eigen/Dense>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "net/network.hpp"
#include "sotto/graph/graph.hpp"

namespace sotto::test {

struct NamedGraph {
    std::string name;
    Graph graph;
};

/// Graphs of `agents` agents: without edges, ring, path, star, complete, and Erdos-Renyi draws
/// (connected or not); directed ones among them.
inline std::vector<NamedGraph> graphs_of(int agents) {
    std::vector<Edge> ring;
    std::vector<Edge> path;
    std::vector<Edge> star;
    std::vector<Edge> complete;
    for (int u = 0; u < agents; ++u) {
        if (agents > 1) ring.emplace_back(u, (u + 1) % agents);
        if (u + 1 < agents) path.emplace_back(u, u + 1);
        if (u > 0) star.emplace_back(0, u);
        for (int v = u + 1; v < agents; ++v) complete.emplace_back(u, v);
    }
    std::vector<NamedGraph> graphs;
    graphs.push_back({"no edges", Graph::from_edges(agents, {})});
    graphs.push_back({"ring", Graph::from_edges(agents, ring)});
    graphs.push_back({"path", Graph::from_edges(agents, path)});
    graphs.push_back({"star", Graph::from_edges(agents, star)});
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        SeededRandom random(seed, "test.net.graph");
        std::vector<Edge> drawn;
        for (const Edge& edge : complete)
            if (random.uniform() < 0.5) drawn.push_back(edge);
        graphs.push_back(
            {"Erdos-Renyi, seed " + std::to_string(seed), Graph::from_edges(agents, drawn)});
    }
    graphs.push_back({"directed ring", Graph::from_arcs(agents, ring)});
    SeededRandom random(3, "test.net.graph");
    std::vector<Arc> arcs;
    for (int u = 0; u < agents; ++u)
        for (int v = 0; v < agents; ++v)
            if (random.uniform() < 0.4) arcs.emplace_back(u, v);
    graphs.push_back({"directed Erdos-Renyi", Graph::from_arcs(agents, arcs)});
    graphs.push_back({"complete", Graph::from_edges(agents, std::move(complete))});
    return graphs;
}

/// The vector that `sender` gives to `receiver` (-1: to all), different in every argument.
inline Eigen::VectorXd message(int sender, int receiver, int round, Eigen::Index dimension) {
    SeededRandom random(static_cast<std::uint64_t>(round),
                        "test.net.message",
                        static_cast<std::uint64_t>(1000 * sender + receiver + 1));
    Eigen::VectorXd result(dimension);
    const double start = random.normal();
    const double step = random.uniform() + 0.5;
    for (Eigen::Index i = 0; i < dimension; ++i) result[i] = start + step * static_cast<double>(i);
    return result;
}

/// Messages of one agent to its closed neighbourhood, and the storage behind them.
struct Sent {
    std::vector<Eigen::VectorXd> vectors;
    Outgoing outgoing;
};
inline Sent send_to_all(int u, int round, Eigen::Index dimension) {
    Sent sent;
    sent.vectors.push_back(message(u, -1, round, dimension));
    sent.outgoing.to_all = sent.vectors.front().data();
    return sent;
}
inline Sent send_per_receiver(const Graph& graph, int u, int round, Eigen::Index dimension) {
    Sent sent;
    for (const int v : graph.closed_neighbourhood(u))
        sent.vectors.push_back(message(u, v, round, dimension));
    for (const Eigen::VectorXd& vector : sent.vectors)
        sent.outgoing.per_receiver.push_back(vector.data());
    return sent;
}

/// What was delivered to one agent: the columns put together, and what was wrong about the ranges.
struct Received {
    Eigen::MatrixXd columns;
    Eigen::Index next = 0;
    int deliveries = 0;
    std::string complaint;

    void add(Eigen::Index dimension,
             Eigen::Index first,
             Eigen::Index count,
             std::span<const double* const> pointers) {
        if (deliveries++ == 0)
            columns.resize(dimension, static_cast<Eigen::Index>(pointers.size()));
        if (first != next || count < 1 || first + count > dimension ||
            columns.cols() != static_cast<Eigen::Index>(pointers.size())) {
            complaint = "delivery of " + std::to_string(pointers.size()) + " columns, [" +
                        std::to_string(first) + ", +" + std::to_string(count) + ") after " +
                        std::to_string(next);
            return;
        }
        for (std::size_t j = 0; j < pointers.size(); ++j) {
            auto part = columns.col(static_cast<Eigen::Index>(j)).segment(first, count);
            if (pointers[j] == nullptr)
                part.setConstant(not_a_number);
            else
                part = Eigen::Map<const Eigen::VectorXd>(pointers[j], count);
        }
        next = first + count;
    }

    /// Empty if agent u got exactly what those it hears sent, and its own, each coordinate once.
    [[nodiscard]] std::string difference(
        const Graph& graph, int u, int round, Eigen::Index dimension, bool per_receiver) const {
        if (!complaint.empty()) return complaint;
        if (next != dimension) return "only " + std::to_string(next) + " values delivered";
        const auto members = graph.closed_neighbourhood(u);
        if (columns.cols() != static_cast<Eigen::Index>(members.size()))
            return std::to_string(columns.cols()) + " columns";
        for (std::size_t j = 0; j < members.size(); ++j) {
            const auto column = columns.col(static_cast<Eigen::Index>(j));
            const bool comes = members[j] == u || graph.hears(u, members[j]);
            if (comes ? column != message(members[j], per_receiver ? u : -1, round, dimension)
                      : !column.array().isNaN().all())
                return "wrong message from agent " + std::to_string(members[j]);
        }
        return {};
    }
};

}  // namespace sotto::test
