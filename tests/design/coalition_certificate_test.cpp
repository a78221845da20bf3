#include "design/coalition_certificate.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/coalition_fixtures.hpp"
#include "design/coalition_step.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::VectorXd;

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
