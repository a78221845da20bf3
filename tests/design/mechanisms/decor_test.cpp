#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(Decor, AddsOneCancellingStreamPerEdge) {
    for (const auto& setting : settings({7})) {
        SCOPED_TRACE(setting.named.name);
        const Graph& graph = setting.named.graph;
        const Design design = design_of("decor", setting.input(200));
        const Eigen::MatrixXd covariance = spatial_covariance(design.plan);
        ASSERT_EQ(design.plan.streams.size(), 7 + graph.edges().size());
        const double edge_variance = -covariance(graph.edges()[0].first, graph.edges()[0].second);
        EXPECT_GT(edge_variance, 0);
        const Eigen::MatrixXd rest = covariance - edge_variance * laplacian_of(graph);
        EXPECT_TRUE(rest.isApprox(rest(0, 0) * Eigen::MatrixXd::Identity(7, 7), 1e-7));
        // Only its two ends hold the seed of an edge.
        for (std::size_t e = 0; e < graph.edges().size(); ++e) {
            const auto group = static_cast<std::size_t>(design.plan.streams[7 + e].group);
            EXPECT_EQ(design.plan.groups[group].members,
                      (std::vector<int>{graph.edges()[e].first, graph.edges()[e].second}));
        }
    }
}

TEST(Decor, HasAnHonestVarianceAgainstColludingAgents) {
    for (const auto& setting : settings({6, 9})) {
        SCOPED_TRACE(setting.named.name);
        double before = 0;
        for (const int q : {0, 1, 2, 5}) {
            DesignInput input = setting.input(20);
            input.coalition_size = q;
            const Design design = design_of("decor", input);
            EXPECT_LE(coalition_precision(design.plan, q).maxCoeff(), 1 + 1e-9);
            EXPECT_GE(design.objective, before * (1 - 1e-9));  // more colluders, more noise
            EXPECT_LE(design.lower_bound, design.objective * (1 + 1e-12));
            before = design.objective;
        }
    }
}

/// Every agent of a ring or a complete graph is like every other and [C] (10) is convex, so some
/// optimum has the block (1, b; b, 1) times a number on every edge.
Eigen::MatrixXd alike_edges(const Graph& graph, double own, double b, const std::vector<int>& out) {
    Eigen::MatrixXd covariance = own * Eigen::MatrixXd::Identity(graph.agents(), graph.agents());
    for (const auto& [u, v] : graph.edges()) {
        if (std::ranges::count(out, u) + std::ranges::count(out, v) > 0) continue;
        covariance(u, u) += 1;
        covariance(v, v) += 1;
        covariance(u, v) += b;
        covariance(v, u) += b;
    }
    return covariance;
}

/// Largest [(R^(I))^-1]_uu over all coalitions of one or two agents.
double worst_precision(const Graph& graph, double own, double b, int q) {
    double worst = 0;
    for (int first = 0; first < graph.agents(); ++first)
        for (int second = first + 1; second < (q == 1 ? first + 2 : graph.agents()); ++second) {
            const std::vector<int> coalition =
                q == 1 ? std::vector<int>{first} : std::vector<int>{first, second};
            const Eigen::VectorXd precision = precision_of(alike_edges(graph, own, b, coalition));
            for (int u = 0; u < graph.agents(); ++u)
                if (std::ranges::count(coalition, u) == 0) worst = std::max(worst, precision(u));
        }
    return worst;
}

/// Least Tr(M R) over a grid of log(own) and b that closes in on the best point.
double searched(const Graph& graph, const Eigen::MatrixXd& utility, int q) {
    double best = utility.trace();  // private noise alone
    double at_own = 0, at_b = 0;
    for (double width = 8; width > 1e-4; width *= 0.5) {
        const double middle_own = at_own, middle_b = at_b;
        for (int i = -4; i <= 4; ++i)
            for (int j = -4; j <= 4; ++j) {
                const double log_own = middle_own + width * i / 4;
                const double b = std::clamp(middle_b + width * j / 32, -1.0, 1.0);
                const double value = worst_precision(graph, std::exp(log_own), b, q) *
                                     cost(utility, alike_edges(graph, std::exp(log_own), b, {}));
                if (!(value < best)) continue;
                best = value;
                at_own = log_own;
                at_b = b;
            }
    }
    return best;
}

TEST(Decor, WithSeedsOfEdgesIsTheBestNoiseOfEdgesAndOneVarianceAgainstColludingAgents) {
    for (const auto& [topology, q] : {std::pair{Topology::ring, 1},
                                      std::pair{Topology::complete, 1},
                                      std::pair{Topology::complete, 2}}) {
        SCOPED_TRACE(name_of(topology) + " " + std::to_string(q));
        const Setting setting{
            {"", make_graph(topology, 5)},
            MixingMatrix::from_rule(make_graph(topology, 5), MixingRule::lazy_metropolis)};
        for (const long horizon : {1L, 20L}) {
            DesignInput input = setting.input(horizon);
            input.coalition_size = q;
            input.seed_groups = make_seed_groups("edges", setting.named.graph);
            const Design design = design_of("decor", input);
            EXPECT_EQ(design.plan.mechanism, "decor");
            EXPECT_TRUE(relatively_near(
                design.objective, searched(setting.named.graph, design_utility(input), q), 1e-4));
        }
    }
}

TEST(Decor, WithSeedsOfEdgesHasOneVarianceAndLessNoiseThanWithAllEdgesAlike) {
    const Graph graph = make_graph(Topology::erdos_renyi, 8, 4, 0.6);
    const Setting setting{{"random", graph},
                          MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    DesignInput input = setting.input(1);
    input.coalition_size = 1;
    const double alike = design_of("decor", input).objective;
    input.seed_groups = make_seed_groups("edges", graph);
    const Design design = design_of("decor", input);
    EXPECT_LT(design.objective, 0.97 * alike);
    EXPECT_LE(design.relative_gap(), 1e-3);
    EXPECT_LE(coalition_precision(design.plan, 1).maxCoeff(), 1 + 1e-9);
    const double own = design.plan.rows[0].coefficients[0];  // stream u is agent u's own
    for (int u = 0; u < 8; ++u) {
        const NoiseRow& row = design.plan.rows[static_cast<std::size_t>(u)];
        EXPECT_EQ(row.streams[0], u);
        EXPECT_EQ(row.coefficients[0], own);
    }
    for (const SeedGroup& group : design.plan.groups)
        EXPECT_TRUE(group.members.size() == 1 ||
                    std::ranges::count(graph.neighbours(group.members[0]), group.members[1]) == 1);
}

TEST(Decor, WithSeedsOfEdgesIsIndependentNoiseWhereColludersCanSurroundAnAgent) {
    const Graph graph = make_graph(Topology::path, 6);
    const Setting setting{{"path", graph}, MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    DesignInput input = setting.input(20);
    input.coalition_size = 1;
    input.seed_groups = make_seed_groups("edges", graph);
    EXPECT_TRUE(relatively_near(
        design_of("decor", input).objective, design_of("ldp", input).objective, 1e-4));
}

}  // namespace
}  // namespace sotto
