#include "design/coalition_newton.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "core/test_support.hpp"
#include "design/coalition_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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

}  // namespace
}  // namespace sotto
