#include "design/coalition_point.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/coalition_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::VectorXd;

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

}  // namespace
}  // namespace sotto
