#include "design/coalition_point.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>

#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "design/coalition_fixtures.hpp"
#include "design/group_layout_fixtures.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

using namespace test;

TEST(FeasiblePoint, HasTheSlackOfEveryConstraint) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        const auto point = feasible_point(problem, problem.start());
        ASSERT_TRUE(point.has_value());
        EXPECT_TRUE(point->room.isApprox(problem.cap() - problem.variances(point->phi), 1e-12));
        for (std::size_t c = 0; c < problem.coalitions().size(); ++c) {
            const auto precision = problem.unknown_precision(point->phi, problem.coalitions()[c]);
            for (int u = 0; u < problem.agents(); ++u) {
                const double f = (*precision)(u, u);
                const double slack = point->slack(u, static_cast<Eigen::Index>(c));
                if (f == 0)
                    EXPECT_EQ(slack, 1);
                else
                    EXPECT_NEAR(slack, 1 / f - 1 / problem.kappa()(u), 1e-12);
            }
        }
        double worst = 0;
        for (const Coalition& coalition : problem.coalitions())
            worst = std::max(worst, problem.excess(point->phi, coalition));
        EXPECT_DOUBLE_EQ(excess(problem, *point), worst);
    });
}

TEST(FeasiblePoint, IsNoneWhereAConstraintIsNotMetStrictly) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        const VectorXd start = problem.start();
        EXPECT_FALSE(feasible_point(problem, 0.1 * start));  // too quiet
        EXPECT_FALSE(feasible_point(problem, 1e6 * start));  // above the cap
        VectorXd phi = start;
        phi(0) = 0;
        EXPECT_FALSE(feasible_point(problem, phi));
        if (problem.shape() == GroupNoise::free) {
            phi = start;
            phi(problem.terms_of(0).front().unknown) = -10;
            EXPECT_FALSE(feasible_point(problem, phi));
        }
    });
}

TEST(BalancedPrices, MakeEveryProductWithASlackTheTarget) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        auto point = feasible_point(problem, problem.start());
        ASSERT_TRUE(point.has_value());
        point->price = balanced_prices(problem, *point, 0.25);
        EXPECT_DOUBLE_EQ(complementarity(problem, *point), 0.25);
        EXPECT_TRUE(point->price.cap.cwiseProduct(point->room).isConstant(0.25, 1e-12));
        // Nobody pays for members of a coalition.
        const Eigen::MatrixXd products = point->price.limit.cwiseProduct(point->slack);
        for (std::size_t c = 0; c < problem.coalitions().size(); ++c)
            for (int u = 0; u < problem.agents(); ++u) {
                const bool member = problem.coalitions()[c].front() == u;
                EXPECT_NEAR(products(u, static_cast<Eigen::Index>(c)), member ? 0 : 0.25, 1e-12);
            }
    });
}

using namespace test;

TEST(UnknownPrecision, IsTheInverseOfWhatTheCoalitionDoesNotKnow) {
    const Graph ring = make_graph(Topology::ring, 12);
    const Graph graph = make_graph(Topology::erdos_renyi, 12, 4);
    for (const GroupNoise shape : {GroupNoise::difference, GroupNoise::free})
        for (const auto& groups : {edge_groups(ring), all_pairs(12), edge_groups(graph)}) {
            const GroupLayout layout(
                12,
                shape == GroupNoise::free && groups.size() < 20 ? neighbourhoods(ring) : groups,
                shape,
                false);
            const VectorXd values = any_values(layout);
            const MatrixXd covariance = layout.covariance(values);
            const MatrixXd precision = covariance.inverse();
            for (const Coalition& coalition :
                 {Coalition{}, Coalition{3}, Coalition{0, 1}, Coalition{2, 7, 11}}) {
                SCOPED_TRACE(fmt::format("free {}, {} groups, coalition of {}",
                                         shape == GroupNoise::free,
                                         layout.groups().size(),
                                         coalition.size()));
                const UnknownPrecision unknown(layout, values, covariance, precision, coalition);
                ASSERT_TRUE(unknown.positive());
                const std::vector<int> outside = agents_outside(coalition, 12);
                const MatrixXd known = covariance_unknown_to(coalition,
                                                             private_variance_of(layout, values),
                                                             layout_blocks(layout, values),
                                                             layout.groups());
                MatrixXd expected = MatrixXd::Zero(12, 12);
                const MatrixXd inside = known(outside, outside), inverse = inside.inverse();
                expected(outside, outside) = inverse;
                EXPECT_LT((unknown.diagonal() - expected.diagonal()).norm(), 1e-10);
                EXPECT_LT((unknown.columns(outside) - expected(Eigen::all, outside)).norm(), 1e-10);
            }
        }
}

using namespace test;

TEST(LargestExcess, IsThatOfTheWorstCoalition) {
    const GroupLayout layout(8, all_pairs(8), GroupNoise::difference, false);
    const VectorXd values = any_values(layout), kappa = random_kappa(8, 2);
    for (const int q : {0, 1, 2}) {
        double worst = 0;
        for_each_coalition(8, q, [&](const Coalition& coalition) {
            const std::vector<int> outside = agents_outside(coalition, 8);
            const MatrixXd unknown = covariance_unknown_to(coalition,
                                                           private_variance_of(layout, values),
                                                           layout_blocks(layout, values),
                                                           layout.groups());
            const VectorXd precision = precision_of(unknown(outside, outside));
            const double excess = precision.cwiseQuotient(kappa(outside)).maxCoeff();
            worst = std::max(worst, excess);
            EXPECT_NEAR(
                excesses(layout, values, kappa, {coalition}).front(), excess, 1e-10 * excess);
        });
        EXPECT_NEAR(largest_excess(layout, values, kappa, q), worst, 1e-10 * worst);
    }
}

TEST(ExcessOfAgents, IsThatOfTheWorstCoalitionOfEach) {
    const GroupLayout layout(8, all_pairs(8), GroupNoise::difference, false);
    const VectorXd values = any_values(layout), kappa = random_kappa(8, 2);
    std::vector<Coalition> coalitions;
    VectorXd worst = VectorXd::Zero(8);
    for_each_coalition(8, 2, [&](const Coalition& coalition) {
        coalitions.push_back(coalition);
        const std::vector<int> outside = agents_outside(coalition, 8);
        const MatrixXd unknown = covariance_unknown_to(coalition,
                                                       private_variance_of(layout, values),
                                                       layout_blocks(layout, values),
                                                       layout.groups());
        const VectorXd excess =
            precision_of(unknown(outside, outside)).cwiseQuotient(kappa(outside));
        for (std::size_t i = 0; i < outside.size(); ++i)
            worst(outside[i]) = std::max(worst(outside[i]), excess(static_cast<Eigen::Index>(i)));
    });
    const VectorXd found = excess_of_agents(layout, values, kappa, coalitions);
    EXPECT_LT((found - worst).cwiseQuotient(worst).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(LargestExcess, IsInfiniteWithoutNoise) {
    const GroupLayout layout(4, all_pairs(4), GroupNoise::difference, false);
    EXPECT_EQ(largest_excess(layout, VectorXd::Zero(layout.size()), VectorXd::Ones(4), 1),
              infinity);
    EXPECT_FALSE(inverse_of(layout, VectorXd::Zero(layout.size())));
}

TEST(PartsOfCoalitions, AreAllCoalitionsOnce) {
    std::size_t count = 0;
    for_each_part_of_coalitions(150, 2, [&](const std::vector<Coalition>& part) {
        EXPECT_LE(part.size(), 4096U);
        count += part.size();
    });
    EXPECT_EQ(count, 150U * 149U / 2);
}

}  // namespace
}  // namespace sotto
