#include "design/coalition_step.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/coalition_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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

}  // namespace
}  // namespace sotto
