// Time to account for what observers learn.
//
//   bench_account pairs GRAPH ROUNDS REPETITIONS            all observers and all targets
//   bench_account observer GRAPH OBSERVER ROUNDS TARGETS REPETITIONS
//       TARGETS: all, neighbours.  OBSERVER: a number, median (of the degrees), largest
//   bench_account dense AGENTS ROUNDS REPETITIONS           one target, and the same as a dense
//                                                           pseudo-inverse, values compared
//
// GRAPH: a file of edges, or er:AGENTS (Erdos-Renyi, average degree 8). Private noise, Metropolis
// weights, the view of one agent (its neighbours' messages). One JSON object a run.
#include <fmt/format.h>
#include <sys/resource.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "core/linear_algebra.hpp"
#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "graph/edge_list.hpp"
#include "sotto/core/error.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace {

constexpr int threads = 2;

template <class Step>
double seconds_of(Step&& step) {
    const auto start = sotto::Clock::now();
    step();
    return sotto::seconds_since(start);
}

sotto::Graph load(const std::string& name) {
    if (!name.starts_with("er:")) return sotto::read_edge_list(name).graph;
    sotto::TopologySpec spec;
    spec.agents = std::stoi(name.substr(3));
    spec.edge_probability = std::min(1.0, 8.0 / (spec.agents - 1));
    return sotto::make_topology(spec).graph;
}

sotto::NoisePlan private_noise(int agents) {
    sotto::NoisePlan plan;
    plan.mechanism = "ldp";
    plan.agents = agents;
    plan.scale = 1;
    for (int u = 0; u < agents; ++u) {
        plan.groups.push_back({{u}});
        plan.streams.push_back({u, 0, sotto::StreamDistribution::gaussian});
        plan.rows.push_back({u, sotto::NoiseRow::all_receivers, {u}, {1.0}});
    }
    return plan;
}

/// A run of private noise with fixed Metropolis weights, and its account.
struct Setting {
    sotto::Graph graph;
    sotto::NoisePlan plan;
    sotto::MessageProcess process;

    Setting(const std::string& name, long rounds)
        : graph(load(name)), plan(private_noise(graph.agents())) {
        process.graph = &graph;
        process.plan = &plan;
        process.phases = {{rounds,
                           sotto::MixingSchedule({sotto::MixingMatrix::from_rule(
                               graph, sotto::MixingRule::metropolis)}),
                           {}}};
    }
    Setting(const Setting&) = delete;

    [[nodiscard]] std::vector<sotto::SquaredSensitivity> account(int observer,
                                                                 const std::vector<int>& targets,
                                                                 int workers) const {
        return sotto::view_sensitivity(
            process, {sotto::View::Kind::neighbours, {observer}}, targets, {1}, {workers, 1e-5});
    }
};

double memory_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

void print(nlohmann::ordered_json& json) {
    json["memory_mib"] = memory_mib();
    fmt::print("{}\n", json.dump());
}

/// Largest relative gap between the tight bounds, and between the certified figure and what is
/// attained.
void add_gaps(nlohmann::ordered_json& json, const std::vector<sotto::SquaredSensitivity>& all) {
    double tight = 0, certified = 0;
    for (const auto& one : all)
        if (!one.infinite && one.tight_lower > 0) {
            tight = std::max(tight, one.tight_upper / one.tight_lower - 1);
            certified = std::max(certified, one.certified() / one.tight_lower - 1);
        }
    json["largest_tight_gap"] = tight;
    json["largest_certified_gap"] = certified;
}

void pairs(const std::string& name, long rounds, int repetitions) {
    const Setting setting(name, rounds);
    const int n = setting.graph.agents();
    std::vector<int> targets(static_cast<std::size_t>(n));
    std::iota(targets.begin(), targets.end(), 0);
    nlohmann::ordered_json json{{"agents", n}, {"rounds", rounds}};
    std::vector<sotto::SquaredSensitivity> all;
    for (int i = 0; i < repetitions; ++i) {
        std::vector<std::vector<sotto::SquaredSensitivity>> found(targets.size());
        // Observers side by side, as `sotto account` does.
        json["seconds"].push_back(seconds_of([&] {
            sotto::parallel_for(n, threads, [&](long a) {
                found[static_cast<std::size_t>(a)] =
                    setting.account(static_cast<int>(a), targets, 1);
            });
        }));
        all.clear();
        for (const auto& of_observer : found)
            all.insert(all.end(), of_observer.begin(), of_observer.end());
    }
    add_gaps(json, all);
    print(json);
}

int find_observer(const sotto::Graph& graph, const std::string& which) {
    if (which != "median" && which != "largest") return std::stoi(which);
    std::vector<int> agents(static_cast<std::size_t>(graph.agents()));
    std::iota(agents.begin(), agents.end(), 0);
    std::stable_sort(agents.begin(), agents.end(), [&](int u, int v) {
        return graph.degree(u) < graph.degree(v);
    });
    return which == "largest" ? agents.back() : agents[agents.size() / 2];
}

void observer(const std::string& name,
              const std::string& which,
              long rounds,
              const std::string& choice,
              int repetitions) {
    const Setting setting(name, rounds);
    const int a = find_observer(setting.graph, which);
    std::vector<int> targets;
    for (int u = 0; u < setting.graph.agents(); ++u) {
        const auto neighbours = setting.graph.neighbours(a);
        if (u != a && (choice == "all" || std::ranges::binary_search(neighbours, u)))
            targets.push_back(u);
    }
    nlohmann::ordered_json json{{"agents", setting.graph.agents()},
                                {"rounds", rounds},
                                {"observer", a},
                                {"degree", setting.graph.degree(a)},
                                {"targets", targets.size()}};
    std::vector<sotto::SquaredSensitivity> all;
    for (int i = 0; i < repetitions; ++i)
        json["seconds"].push_back(seconds_of([&] { all = setting.account(a, targets, threads); }));
    add_gaps(json, all);
    print(json);
}

/// [U]'s way: (P B)(P B)^T with a row for every message of every round, and its pseudo-inverse.
Eigen::MatrixXd dense_gram(const Setting& setting, int a, int target, long rounds) {
    const int n = setting.graph.agents();
    const auto heard = setting.graph.neighbours(a);
    const auto p = static_cast<Eigen::Index>(heard.size());
    const Eigen::MatrixXd mixing = setting.process.phases.front().mixing.at(0).dense();
    // B maps the noise of all agents and rounds to all messages.
    Eigen::MatrixXd b = Eigen::MatrixXd::Zero(n * rounds, n * rounds);
    Eigen::MatrixXd power = Eigen::MatrixXd::Identity(n, n);
    for (long lag = 0; lag < rounds; ++lag) {
        for (long s = 0; s + lag < rounds; ++s) b.block((s + lag) * n, s * n, n, n) = power;
        power = mixing * power;
    }
    // The observer's own noise is known to it.
    std::vector<Eigen::Index> rows, columns, inputs;
    for (long t = 0; t < rounds; ++t) {
        for (const int v : heard) rows.push_back(t * n + v);
        for (int u = 0; u < n; ++u)
            if (u != a) columns.push_back(t * n + u);
        inputs.push_back(t * n + target);
    }
    const Eigen::MatrixXd noise = b(rows, columns), input = b(rows, inputs);
    const sotto::SymmetricEigen eigen = sotto::symmetric_eigen(noise * noise.transpose());
    Eigen::VectorXd inverse = Eigen::VectorXd::Zero(p * rounds);
    for (Eigen::Index i = 0; i < inverse.size(); ++i)
        if (eigen.values(i) > 1e-11 * eigen.values(inverse.size() - 1))
            inverse(i) = 1 / eigen.values(i);
    const Eigen::MatrixXd components = eigen.vectors.transpose() * input;
    return components.transpose() * inverse.asDiagonal() * components;
}

void dense(int agents, long rounds, int repetitions) {
    const Setting setting(fmt::format("er:{}", agents), rounds);
    const int a = find_observer(setting.graph, "median");
    const int target = setting.graph.neighbours(a)[0];
    nlohmann::ordered_json json{{"agents", agents}, {"rounds", rounds}};
    Eigen::MatrixXd expected, found;
    for (int i = 0; i < repetitions; ++i) {
        json["seconds"].push_back(seconds_of([&] {
            found =
                *sotto::view_gram(setting.process, {sotto::View::Kind::neighbours, {a}}, target);
        }));
        json["dense_seconds"].push_back(
            seconds_of([&] { expected = dense_gram(setting, a, target, rounds); }));
    }
    json["observer"] = a;
    json["degree"] = setting.graph.degree(a);
    json["target"] = target;
    json["sum"] = found.sum();
    json["largest_difference"] =
        (found - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
    print(json);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        sotto::set_linear_algebra_threads(threads);
        if (words.size() == 4 && words[0] == "pairs")
            pairs(words[1], std::stol(words[2]), std::stoi(words[3]));
        else if (words.size() == 6 && words[0] == "observer")
            observer(words[1], words[2], std::stol(words[3]), words[4], std::stoi(words[5]));
        else if (words.size() == 4 && words[0] == "dense")
            dense(std::stoi(words[1]), std::stol(words[2]), std::stoi(words[3]));
        else
            throw sotto::ConfigError(
                "usage: bench_account pairs GRAPH ROUNDS REPETITIONS | observer GRAPH OBSERVER "
                "ROUNDS TARGETS REPETITIONS | dense AGENTS ROUNDS REPETITIONS");
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_account: {}\n", error.what());
        return 2;
    }
}
