#include "design/coalition_newton.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "core/test_support.hpp"
#include "design/coalition_fixtures.hpp"
#include "design/coalition_point.hpp"
#include "design/group_layout_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

using namespace test;

constexpr double target = 0.2;

CoalitionPoint balanced_point(const CoalitionProblem& problem, const VectorXd& phi) {
    CoalitionPoint point = feasible_point(problem, phi).value();
    point.price = balanced_prices(problem, point, target);
    return point;
}

/// cost.phi - target * sum of the logarithms of all slacks and of log det of free blocks.
double barrier(const CoalitionProblem& problem, const VectorXd& phi) {
    const CoalitionPoint point = feasible_point(problem, phi).value();
    double logarithms = point.slack.array().log().sum() + point.room.array().log().sum() +
                        phi.head(problem.nonnegative()).array().log().sum();
    if (problem.shape() == GroupNoise::free)
        for (std::size_t k = 0; k < problem.groups().size(); ++k)
            logarithms += std::log(problem.group_matrix(phi, k).determinant());
    return problem.cost().dot(phi) - target * logarithms;
}

TEST(NewtonSystem, HasTheGradientOfTheBarrier) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        const VectorXd phi = problem.start();
        const VectorXd direction = random_direction(problem, phi);
        const NewtonSystem system = newton_system(problem, balanced_point(problem, phi), target);
        constexpr double h = 1e-5;
        const double slope =
            (barrier(problem, phi + h * direction) - barrier(problem, phi - h * direction)) /
            (2 * h);
        EXPECT_TRUE(relatively_near(system.gradient.dot(direction), slope, 1e-6));
    });
}

TEST(NewtonSystem, HasTheHessianOfTheBarrierWherePricesAreBalanced) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        const VectorXd phi = problem.start();
        const VectorXd direction = random_direction(problem, phi);
        const NewtonSystem system = newton_system(problem, balanced_point(problem, phi), target);
        constexpr double h = 1e-5;
        const auto gradient = [&](double length) {
            return newton_system(problem, balanced_point(problem, phi + length * direction), target)
                .gradient;
        };
        const VectorXd change = (gradient(h) - gradient(-h)) / (2 * h);
        const VectorXd found = system.hessian.selfadjointView<Eigen::Lower>() * direction;
        EXPECT_LT((found - change).norm(), 1e-5 * change.norm());
        EXPECT_EQ(MatrixXd(system.hessian.selfadjointView<Eigen::Lower>()).llt().info(),
                  Eigen::Success);
    });
}

TEST(SlackChange, IsTheSlopeOfTheSlacks) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        const VectorXd phi = problem.start();
        const VectorXd direction = random_direction(problem, phi);
        const NewtonSystem system = newton_system(problem, balanced_point(problem, phi), target);
        constexpr double h = 1e-5;
        const MatrixXd change = (feasible_point(problem, phi + h * direction)->slack -
                                 feasible_point(problem, phi - h * direction)->slack) /
                                (2 * h);
        EXPECT_LT((slack_change(problem, system, direction) - change).norm(), 1e-6 * change.norm());
        EXPECT_TRUE(
            (system.cap_slopes * direction)
                .isApprox((problem.variances(phi + direction) - problem.variances(phi)), 1e-9));
    });
}

using namespace test;

TEST(TakeStep, ComesToThePointWhereEveryProductIsTheTarget) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        CoalitionPoint point = feasible_point(problem, problem.start()).value();
        point.price = balanced_prices(problem, point, 0.1);
        constexpr double target = 0.01;
        for (int i = 0; i < 25; ++i) {
            CoalitionStep step = take_step(problem, point, target);
            ASSERT_GT(step.length, 0) << "step " << i;
            point = std::move(step.point);
            ASSERT_GT(point.slack.minCoeff(), 0);
            ASSERT_GT(point.room.minCoeff(), 0);
            ASSERT_GT(point.phi.head(problem.nonnegative()).minCoeff(), 0);
        }
        EXPECT_NEAR(complementarity(problem, point), target, 1e-7);
        const MatrixXd products = point.price.limit.cwiseProduct(point.slack);
        for (Eigen::Index c = 0; c < products.cols(); ++c)
            for (Eigen::Index u = 0; u < products.rows(); ++u)
                EXPECT_NEAR(products(u, c), u == c ? 0 : target, 1e-7);  // coalition c is agent c
        EXPECT_TRUE(point.price.cap.cwiseProduct(point.room).isConstant(target, 1e-5));
        EXPECT_TRUE(point.price.zero.cwiseProduct(point.phi.head(problem.nonnegative()))
                        .isConstant(target, 1e-5));
    });
}

TEST(TakeStep, GoesNoFurtherThanNearlyToTheBoundary) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        CoalitionPoint point = feasible_point(problem, problem.start()).value();
        point.price = balanced_prices(problem, point, 0.1);
        const CoalitionStep step = take_step(problem, point, 0.01);
        ASSERT_GT(step.length, 0);
        EXPECT_LE(step.length, 1);
        EXPECT_GE((step.point.slack.array() / point.slack.array()).minCoeff(), 0.05 * (1 - 1e-9));
        EXPECT_GE((step.point.price.cap.array() / point.price.cap.array()).minCoeff(),
                  0.05 * (1 - 1e-9));
        EXPECT_LT(problem.cost().dot(step.point.phi), problem.cost().dot(point.phi));
    });
}

using namespace test;

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

using namespace test;

std::vector<Coalition> single_agents(int agents) {
    std::vector<Coalition> coalitions;
    for_each_coalition(
        agents, 1, [&](const Coalition& coalition) { coalitions.push_back(coalition); });
    return coalitions;
}

TEST(PrivateValues, ProtectEveryoneWithoutOthers) {
    const VectorXd kappa = random_kappa(7, 3);
    for (const bool common : {false, true}) {
        const GroupLayout layout(7, all_pairs(7), GroupNoise::difference, common);
        const VectorXd values = private_values(layout, kappa);
        EXPECT_EQ(values.tail(values.size() - layout.variances()).norm(), 0);
        EXPECT_NEAR(largest_excess(layout, values, kappa, 2), 1, 1e-12);
    }
}

TEST(FirstValues, AreFeasibleAndShareSomeNoise) {
    const Graph graph = make_graph(Topology::erdos_renyi, 9, 4);
    const VectorXd kappa = random_kappa(9, 3);
    for (const GroupNoise shape : {GroupNoise::difference, GroupNoise::free})
        for (const bool common : {false, true}) {
            const GroupLayout layout(9, edge_groups(graph), shape, common);
            const VectorXd cost = layout.along(horizon_utility(graph, 20));
            const VectorXd cap = 100 * kappa.cwiseInverse();
            const VectorXd values = first_values(layout, cost, cap, kappa, single_agents(9));
            EXPECT_NEAR(largest_excess(layout, values, kappa, 1), 1, 1e-9);
            for (std::size_t k = 0; k < layout.groups().size(); ++k)
                EXPECT_GT(layout.block(values, k).norm(), 0);
            EXPECT_LT(cost.dot(values), 1.3 * cost.dot(private_values(layout, kappa)));
        }
}

TEST(FirstValues, AreNoDearerThanTheSameNoiseInEveryPair) {
    const Graph graph = make_graph(Topology::erdos_renyi, 12, 4);
    const VectorXd kappa = VectorXd::Ones(12);
    const GroupLayout layout(12, edge_groups(graph), GroupNoise::difference, false);
    const VectorXd cost = layout.along(horizon_utility(graph, 20));
    const double value =
        cost.dot(first_values(layout, cost, 1e4 * kappa, kappa, single_agents(12)));
    VectorXd even = private_values(layout, kappa);
    even.tail(even.size() - 12)
        .setConstant(0.3 * 12 / (2. * static_cast<double>(layout.groups().size())));
    even *= largest_excess(layout, even, kappa, 1);
    EXPECT_LE(value, cost.dot(even) * (1 + 1e-12));
}

TEST(IsUneven, KnowsAStarFromARing) {
    const auto uneven = [](const Graph& graph) {
        return is_uneven(
            GroupLayout(graph.agents(), edge_groups(graph), GroupNoise::difference, false));
    };
    EXPECT_TRUE(uneven(make_graph(Topology::star, 40)));
    EXPECT_FALSE(uneven(make_graph(Topology::ring, 40)));
    EXPECT_FALSE(is_uneven(GroupLayout(4, {}, GroupNoise::difference, false)));
}

using namespace test;

TEST(CertifiedLowerBound, IsBelowEveryFeasibleCostAndNearTheLeastAtTheEndOfThePath) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        CoalitionPoint point = feasible_point(problem, problem.start()).value();
        point.price = balanced_prices(problem, point, 0.1);
        std::vector<double> bounds{certified_lower_bound(problem, point)};
        double target = 0.1;
        for (int i = 0; i < 60 && target > 1e-8; ++i) {
            CoalitionStep step = take_step(problem, point, target);
            ASSERT_GT(step.length, 0) << "step " << i;
            point = std::move(step.point);
            bounds.push_back(certified_lower_bound(problem, point));
            target = (step.length > 0.5 ? 0.3 : 1) * complementarity(problem, point);
        }
        const double least = problem.cost().dot(point.phi);
        EXPECT_GE(bounds.back(), least * (1 - 1e-4));
        for (const double bound : bounds) EXPECT_LE(bound, least * (1 + 1e-9));
    });
}

TEST(CertifiedLowerBound, HoldsForAnyPrices) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        CoalitionPoint point = feasible_point(problem, problem.start()).value();
        SeededRandom random(9, "prices");
        // Any feasible noise costs at least the bound: the start's, scaled until it is tight.
        const double tight = problem.cost().dot(point.phi) * excess(problem, point);
        for (int i = 0; i < 20; ++i) {
            point.price = balanced_prices(problem, point, 0.1);
            for (double& price : point.price.limit.reshaped()) price *= std::exp(random.normal());
            for (double& price : point.price.cap) price *= std::exp(random.normal());
            const double bound = certified_lower_bound(problem, point);
            EXPECT_GE(bound, 0);
            EXPECT_LE(bound, tight);
        }
    });
}

}  // namespace
}  // namespace sotto
