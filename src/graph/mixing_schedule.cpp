#include "sotto/graph/mixing_schedule.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/files.hpp"
#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

namespace {

constexpr double most_weights = 1e8;

Graph graph_of_round(const TopologySpec& topology, long round) {
    SeededRandom random(topology.graph_seed, "mixing schedule", static_cast<std::uint64_t>(round));
    TopologySpec fresh = topology;
    fresh.graph_seed = random.below(std::uint64_t{1} << 62);
    Graph graph = make_topology(fresh).graph;
    std::vector<int> place(static_cast<std::size_t>(graph.agents()));
    std::iota(place.begin(), place.end(), 0);
    for (std::size_t i = place.size(); i > 1; --i)
        std::swap(place[i - 1], place[static_cast<std::size_t>(random.below(i))]);
    auto links = graph.links();
    for (auto& [u, v] : links) {
        u = place[static_cast<std::size_t>(u)];
        v = place[static_cast<std::size_t>(v)];
    }
    return Graph::from_links(graph.agents(), graph.directed(), std::move(links));
}

}  // namespace

ScheduledMixing random_schedule(const TopologySpec& topology,
                                const std::string& rule,
                                long rounds) {
    const auto rules = mixing_names();
    if (std::ranges::find(rules, rule) == rules.end())
        throw ConfigError(
            fmt::format("mixing-schedule: random needs a rule of mixing, not '{}' (allowed: {})",
                        rule,
                        join(rules)));
    const auto require_few = [&](double weights) {
        if (!(weights <= most_weights))
            throw ConfigError(fmt::format(
                "mixing-schedule: random keeps {:.3g} weights in {} rounds, more than {:g}; use "
                "fewer rounds, or a FILE whose matrices repeat",
                weights,
                rounds,
                most_weights));
    };
    std::vector<MixingMatrix> own;
    std::set<std::pair<int, int>> links;
    for (long t = 0; t < rounds; ++t) {
        const Graph graph = graph_of_round(topology, t);
        const auto of_round = graph.links();
        links.insert(of_round.begin(), of_round.end());
        // All matrices keep the links of all rounds.
        require_few(static_cast<double>(rounds) *
                    (topology.agents +
                     (topology.directed ? 1.0 : 2.0) * static_cast<double>(links.size())));
        own.push_back(make_mixing(graph, rule));
    }
    ScheduledMixing result{
        Graph::from_links(topology.agents, topology.directed, {links.begin(), links.end()}), {}};
    for (const MixingMatrix& mixing : own)
        result.matrices.push_back(MixingMatrix::from_weights(
            result.graph, [&](int u, int v) { return mixing.weight(u, v); }, mixing.kind()));
    return result;
}

std::vector<MixingMatrix> one_peer_schedule(const Graph& exponential_graph) {
    const int n = exponential_graph.agents();
    std::vector<MixingMatrix> matrices;
    for (int hop = 1; hop < n; hop *= 2) {
        // In a directed graph arcs go from u to u + hop, which hears u.
        const auto peer = [&](int u) {
            return (exponential_graph.directed() ? u - hop + n : u + hop) % n;
        };
        try {
            matrices.push_back(MixingMatrix::from_weights(exponential_graph, [&](int u, int v) {
                return (u == v ? 0.5 : 0.0) + (v == peer(u) ? 0.5 : 0.0);
            }));
        } catch (const DataError&) {
            throw ConfigError(
                "mixing-schedule: one-peer follows the edges of the exponential graph; use "
                "--topology exponential");
        }
    }
    if (matrices.empty()) matrices.push_back(MixingMatrix::average(1));
    return matrices;
}

std::vector<MixingMatrix> read_mixing_schedule(const Graph& graph, const std::string& path) {
    const Eigen::MatrixXd stacked = read_npy(path);
    const int n = graph.agents();
    if (stacked.rows() == 0 || stacked.cols() != n || stacked.rows() % n != 0)
        throw DataError(fmt::format(
            "{}: {} x {} is not a stack of {} x {} mixing matrices, one below the other",
            path,
            stacked.rows(),
            stacked.cols(),
            n,
            n));
    std::vector<MixingMatrix> matrices;
    for (Eigen::Index i = 0; i < stacked.rows() / n; ++i) try {
            matrices.push_back(MixingMatrix::from_dense(graph, stacked.middleRows(i * n, n)));
            if (stacked.middleRows(i * n, n).minCoeff() < 0 && !matrices.back().symmetric())
                throw DataError(
                    "it has negative entries and is not symmetric, so that differences between "
                    "agents may grow in products with others (allowed: symmetric, or entries of at "
                    "least 0)");
        } catch (const DataError& error) {
            throw DataError(fmt::format("{}: matrix {}: {}", path, i, error.what()));
        }
    return matrices;
}

namespace {

constexpr int most_dense = 2000;

/// The fixed vector of `step`, by elimination; nothing if there are several.
std::optional<Eigen::VectorXd> fixed_vector(const SparseRows& step) {
    const Eigen::Index n = step.rows();
    Eigen::MatrixXd system = Eigen::MatrixXd(step) - Eigen::MatrixXd::Identity(n, n);
    system.row(n - 1).setOnes();
    const Eigen::PartialPivLU<Eigen::MatrixXd> factors(system);
    constexpr double singular = 1e-14;
    if (!(factors.rcond() > singular)) return std::nullopt;
    Eigen::VectorXd result = factors.solve(Eigen::VectorXd::Unit(n, n - 1));
    constexpr double tolerance = 1e-12;
    const bool solves = (step * result - result).cwiseAbs().maxCoeff() <= tolerance &&
                        result.minCoeff() >= -tolerance;
    if (!solves) return std::nullopt;
    result = result.cwiseMax(0.0);
    return result / result.sum();
}

/// The limit of equal weights.
Eigen::VectorXd limit_of_equal(const SparseRows& step) {
    const Eigen::Index n = step.rows();
    Eigen::VectorXd weights = Eigen::VectorXd::Constant(n, 1.0 / static_cast<double>(n));
    constexpr int most_steps = 100'000;
    for (int k = 0; k < most_steps; ++k) {
        // Averaging with the old weights makes periodic ones converge.
        const Eigen::VectorXd next = 0.5 * (weights + step * weights);
        const double change = (next - weights).cwiseAbs().maxCoeff();
        weights = next;
        if (change <= 1e-17 / static_cast<double>(n)) break;
    }
    return weights / weights.sum();
}

}  // namespace

Eigen::VectorXd perron_vector(const MixingMatrix& mixing) {
    const Eigen::Index n = mixing.agents();
    if (mixing.doubly_stochastic())
        return Eigen::VectorXd::Constant(n, 1.0 / static_cast<double>(n));
    const SparseRows step = mixing.push_sum() ? mixing.sparse() : mixing.sparse().transpose();
    if (n <= most_dense)
        if (auto found = fixed_vector(step)) return *std::move(found);
    return limit_of_equal(step);
}

Eigen::VectorXd estimate_factors(const MixingMatrix& mixing) {
    const Eigen::Index n = mixing.agents();
    if (!mixing.push_sum()) return Eigen::VectorXd::Ones(n);
    return (static_cast<double>(n) * perron_vector(mixing)).cwiseInverse();
}

void PushSumWeights::mix(const MixingMatrix& mixing, double here, double before) {
    const Eigen::VectorXd mixed = here * (mixing.sparse() * now_) - before * before_;
    before_ = now_;
    now_ = mixed;
}

}  // namespace sotto
