#include "design/coalition_weights.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/linear_algebra.hpp"
#include "core/test_support.hpp"
#include "design/coalition_fixtures.hpp"
#include "design/coalition_point.hpp"
#include "design/group_layout_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd relative_utility(const Graph& graph, int horizon) {
    const MatrixXd utility = horizon_utility(graph, horizon);
    return graph.agents() / utility.trace() * utility;
}

/// Newton's method as the judge: another program of the same problem, to 1e-5.
void expect_near_newton(const GroupLayout& layout,
                        const MatrixXd& utility,
                        const VectorXd& kappa,
                        CoalitionOptions options) {
    options.relative_gap = 1e-5;
    const CoalitionSolution newton =
        solve_coalition_covariance(utility, kappa, layout.groups(), layout.shape(), options);
    options.relative_gap = layout.shape() == GroupNoise::free ? 0.05 : 0.01;
    const LayoutSolution found = solve_by_weights(layout, utility, kappa, options);
    EXPECT_LE(found.value, newton.value * (1 + options.relative_gap));
    EXPECT_GE(found.value, newton.lower_bound);
    EXPECT_LE(found.lower_bound, newton.value);
    // Where every price moves all noise, or blocks turn, certificates come slowly.
    const bool slow = options.common_variance || layout.shape() == GroupNoise::free;
    EXPECT_GE(found.lower_bound, found.value * (1 - (slow ? 0.1 : options.relative_gap)));
    EXPECT_NEAR(layout.along(utility).dot(found.values), found.value, 1e-9 * found.value);
    EXPECT_NEAR(largest_excess(layout, found.values, kappa, options.coalition_size), 1, 1e-9);
    for_each_coalition(layout.agents(), options.coalition_size, [&](const Coalition& coalition) {
        const std::vector<int> outside = agents_outside(coalition, layout.agents());
        const MatrixXd unknown = covariance_unknown_to(coalition,
                                                       private_variance_of(layout, found.values),
                                                       layout_blocks(layout, found.values),
                                                       layout.groups());
        const VectorXd precision = precision_of(unknown(outside, outside));
        for (std::size_t i = 0; i < outside.size(); ++i)
            EXPECT_LE(precision(static_cast<Eigen::Index>(i)), kappa(outside[i]) * (1 + 1e-9));
    });
}

TEST(SolveByWeights, FindsWhatNewtonsMethodFindsWithinItsGap) {
    for (const auto& [name, graph] : sample_graphs({6, 9})) {
        const int agents = graph.agents();
        const MatrixXd utility = relative_utility(graph, 20);
        for (const int q : {0, 1, 2})
            for (const bool common : {false, true})
                for (const auto shape : {GroupNoise::difference, GroupNoise::free}) {
                    SCOPED_TRACE(fmt::format(
                        "{} q={} common={} free={}", name, q, common, shape == GroupNoise::free));
                    CoalitionOptions options;
                    options.coalition_size = q;
                    options.common_variance = common;
                    options.variance_cap = 100;
                    const GroupLayout layout(
                        agents,
                        shape == GroupNoise::free ? neighbourhoods(graph) : all_pairs(agents),
                        shape,
                        common);
                    const VectorXd kappa = common ? VectorXd(VectorXd::Ones(agents))
                                                  : VectorXd(random_kappa(agents, 3));
                    expect_near_newton(layout, utility, kappa, options);
                }
    }
}

TEST(SolveByWeights, HasTheSameBitsWithAnyNumberOfThreads) {
    const Graph graph = make_graph(Topology::erdos_renyi, 30, 2, 0.2);
    const MatrixXd utility = relative_utility(graph, 50);
    const VectorXd kappa = VectorXd::Ones(30);
    CoalitionOptions options;
    options.relative_gap = 0.05;
    const GroupLayout layout(30, edge_groups(graph), GroupNoise::difference, false);
    const int before = linear_algebra_threads();
    set_linear_algebra_threads(1);
    const LayoutSolution one = solve_by_weights(layout, utility, kappa, options);
    set_linear_algebra_threads(2);
    const LayoutSolution two = solve_by_weights(layout, utility, kappa, options);
    set_linear_algebra_threads(before);
    EXPECT_EQ(one.values, two.values);
    EXPECT_EQ(one.lower_bound, two.lower_bound);
}

TEST(SolveByWeights, AddsTheCoalitionsThatBindWhereThereAreTooMany) {
    constexpr int agents = 90;
    const Graph graph = make_graph(Topology::erdos_renyi, agents, 2, 0.1);
    CoalitionOptions options;
    options.coalition_size = 2;
    options.relative_gap = 0.1;
    const GroupLayout layout(agents, all_pairs(agents), GroupNoise::difference, false);
    const VectorXd kappa = VectorXd::Ones(agents);
    const LayoutSolution found =
        solve_by_weights(layout, relative_utility(graph, 50), kappa, options);
    EXPECT_LT(found.coalitions, 3000);  // of 4005
    EXPECT_NEAR(largest_excess(layout, found.values, kappa, 2), 1, 1e-9);
    EXPECT_GE(found.lower_bound, 0.9 * found.value);
}

TEST(SolveByWeights, CapsNoiseThatCostsNothing) {
    const Graph graph = make_graph(Topology::complete, 30);  // differences vanish in one exchange
    CoalitionOptions options;
    options.relative_gap = 0.01;
    for (const double cap : {10.0, 1e4}) {
        options.variance_cap = cap;
        const GroupLayout layout(30, all_pairs(30), GroupNoise::difference, false);
        const VectorXd kappa = VectorXd::Ones(30);
        const LayoutSolution found =
            solve_by_weights(layout, relative_utility(graph, 10), kappa, options);
        EXPECT_LE(layout.diagonal(found.values).maxCoeff(), cap * (1 + 1e-8));
        EXPECT_GE(layout.diagonal(found.values).maxCoeff(), 0.5 * cap);
        EXPECT_GE(found.lower_bound, 0.95 * found.value);
    }
}

TEST(SolveByWeights, RefusesACapBelowWhatEveryAgentNeeds) {
    CoalitionOptions options;
    options.variance_cap = 1.5;
    options.common_variance = true;
    VectorXd kappa = VectorXd::Ones(5);
    kappa(3) = 2;  // agent 3 is allowed 0.75, the others need 1
    const Graph graph = make_graph(Topology::ring, 5);
    const GroupLayout layout(5, all_pairs(5), GroupNoise::difference, true);
    EXPECT_EQ(message_of<ConfigError>([&] {
                  (void)solve_by_weights(layout, relative_utility(graph, 10), kappa, options);
              }),
              "variance-cap: 1.5 is too small for noise that protects every agent (choose a larger "
              "one, or no common-variance)");
}

}  // namespace
}  // namespace sotto
