#include "sotto/privacy/guarantee.hpp"

#include <gtest/gtest.h>

#include "privacy/privacy_fixtures.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(GuaranteeOf, GivesEpsilonAtTheDelta) {
    const Guarantee guarantee = guarantee_of(PrivacyLoss::gaussian(1.5), 1e-6);
    EXPECT_EQ(guarantee.loss.mu(), 1.5);
    EXPECT_EQ(guarantee.delta, 1e-6);
    EXPECT_EQ(guarantee.epsilon, gdp_epsilon(1.5, 1e-6));
    EXPECT_FALSE(guarantee.infinite());
    EXPECT_TRUE(guarantee_of(PrivacyLoss::gaussian(infinity), 1e-6).infinite());
}

TEST(GuaranteeOf, FollowsTheNoiseOfThePlan) {
    NoisePlan plan = private_plan({1, 1});
    EXPECT_EQ(guarantee_of(plan, 0.8, 1e-5).epsilon, gdp_epsilon(0.8, 1e-5));
    EXPECT_EQ(guarantee_of(plan, 0.8, 1e-5).delta, 1e-5);
    for (auto& stream : plan.streams) stream.distribution = StreamDistribution::laplace;
    EXPECT_EQ(guarantee_of(plan, 0.8, 1e-5).epsilon, 0.8) << "pure, whatever the delta";
    EXPECT_EQ(guarantee_of(plan, 0.8, 1e-5).delta, 0);
    EXPECT_TRUE(guarantee_of(plan, infinity, 1e-5).infinite());
}

TEST(Largest, IsTheFirstOfTheWorst) {
    std::vector<Guarantee> all;
    for (const double mu : {1e-8, 2.0, 0.5, 2.0}) all.push_back({PrivacyLoss::gaussian(mu), 1e-5});
    EXPECT_EQ(&largest(all), &all[1]);
    // Where epsilon is 0 for all of them mu decides.
    all = {guarantee_of(PrivacyLoss::gaussian(1e-8), 1e-5),
           guarantee_of(PrivacyLoss::gaussian(2e-8), 1e-5)};
    EXPECT_EQ(&largest(all), &all[1]);
    EXPECT_EQ(largest(all).epsilon, 0);
}

}  // namespace
}  // namespace sotto
