#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(Cdp, HasTheObjectiveHorizonOverAgents) {
    for (const auto& setting : settings({1, 5, 12}))
        for (const long horizon : {1L, 10L, 200L}) {
            const Design design = design_of("cdp", setting.input(horizon));
            EXPECT_TRUE(relatively_near(design.objective,
                                        static_cast<double>(horizon) / setting.named.graph.agents(),
                                        1e-12));
            EXPECT_EQ(design.plan.aggregation, Aggregation::trusted_mean);
        }
}

TEST(Cdp, HidesTheMeanWithTheVarianceOfOneBudget) {
    // q_0 of variance 1/kappa enters the sum of n messages.
    for (const auto& setting : settings({6})) {
        const NoisePlan plan =
            design_of("cdp", setting.input(10, Eigen::VectorXd::Constant(6, 0.25))).plan;
        const Eigen::MatrixXd covariance = spatial_covariance(plan);
        EXPECT_NEAR(covariance.sum() / 36, 1 / (0.25 * 36), 1e-12);
        EXPECT_NEAR(covariance(0, 0), 4, 1e-12);
        EXPECT_EQ(covariance.cwiseAbs().sum(), covariance(0, 0));
    }
}

}  // namespace
}  // namespace sotto
