#include "design/coalition_path.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/coalition_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::VectorXd;

/// max over all coalitions of a size of max_u [(R^(I))^-1]_uu / kappa_u.
double worst_excess(const CoalitionProblem& problem, const VectorXd& phi, int coalition_size) {
    double worst = 0;
    for_each_coalition(problem.agents(), coalition_size, [&](const Coalition& coalition) {
        worst = std::max(worst, problem.excess(phi, coalition));
    });
    return worst;
}

TEST(CoalitionPath, EndsAtNoiseThatProtectsFromAllCoalitionsWithinItsGap) {
    for (const GroupNoise shape : {GroupNoise::difference, GroupNoise::free})
        for (const bool common : {false, true}) {
            SCOPED_TRACE(testing::Message() << "free " << (shape == GroupNoise::free)
                                            << ", common variance " << common);
            CoalitionOptions options;
            options.common_variance = common;
            CoalitionPath path(small_problem(shape, common), options);
            path.follow();
            const double cost = path.problem().cost().dot(path.best());
            EXPECT_NEAR(worst_excess(path.problem(), path.best(), 1), 1, 1e-9);
            EXPECT_LE(path.lower_bound(), cost);
            EXPECT_GE(path.lower_bound(), cost * (1 - options.relative_gap));
            EXPECT_GT(path.iterations(), 3);
            EXPECT_LT(path.iterations(), 100);
        }
}

TEST(CoalitionPath, StopsAfterTheStepsAllowedWithTheBestSoFar) {
    CoalitionOptions options;
    options.max_iterations = 2;
    CoalitionPath path(small_problem(GroupNoise::difference), options);
    path.follow();
    EXPECT_EQ(path.iterations(), 2);
    EXPECT_NEAR(worst_excess(path.problem(), path.best(), 1), 1, 1e-9);
    EXPECT_GT(path.problem().cost().dot(path.best()) / path.lower_bound(), 1 + 1e-5);
}

TEST(CoalitionPath, AddsTheCoalitionsThatAreViolatedWhereThereAreMany) {
    constexpr int agents = 14;  // 364 coalitions of three
    const Graph graph = make_graph(Topology::erdos_renyi, agents, 2, 0.4);
    const Eigen::MatrixXd utility = horizon_utility(graph, 10);
    CoalitionOptions options;
    options.coalition_size = 3;
    CoalitionProblem problem(agents / utility.trace() * utility,
                             VectorXd::Ones(agents),
                             edge_groups(graph),
                             GroupNoise::difference,
                             options);
    for (int u = 0; u < agents; ++u) {
        Coalition three{u, (u + 1) % agents, (u + 2) % agents};
        std::ranges::sort(three);
        problem.add(std::move(three));
    }
    const std::size_t before = problem.coalitions().size();
    CoalitionPath path(std::move(problem), options);
    path.follow();
    EXPECT_GT(path.problem().coalitions().size(), before);
    EXPECT_LT(path.problem().coalitions().size(), 364U);
    EXPECT_NEAR(worst_excess(path.problem(), path.best(), 3), 1, 1e-9);
    const double cost = path.problem().cost().dot(path.best());
    EXPECT_GE(path.lower_bound(), cost * (1 - options.relative_gap));
}

TEST(CoalitionPath, RefusesACapBelowWhatEveryAgentNeeds) {
    const Graph graph = make_graph(Topology::ring, 5);
    const Eigen::MatrixXd utility = horizon_utility(graph, 10);
    CoalitionOptions options;
    options.variance_cap = 1.5;
    options.common_variance = true;
    VectorXd kappa = VectorXd::Ones(5);
    kappa(3) = 2;  // agent 3 is allowed 0.75, the others need 1
    CoalitionProblem problem(
        5 / utility.trace() * utility, kappa, all_pairs(5), GroupNoise::difference, options);
    problem.add({0});
    EXPECT_EQ(message_of<ConfigError>([&] { CoalitionPath(problem, options); }),
              "variance-cap: 1.5 is too small for noise that protects every agent (choose a larger "
              "one, or no common-variance)");
}

}  // namespace
}  // namespace sotto
