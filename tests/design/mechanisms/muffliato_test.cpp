#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(Muffliato, IsLdpWithOneGossipStepAndMixesMoreWithSeveral) {
    for (const auto& setting : settings({6})) {
        const Eigen::VectorXd kappa = random_kappa(6, unequal_kappa_seed);
        DesignInput input = setting.input(10, kappa);
        const Design once = design_of("muffliato", input);
        EXPECT_TRUE(spatial_covariance(once.plan) ==
                    spatial_covariance(design_of("ldp", input).plan));
        EXPECT_EQ(once.objective, design_of("ldp", input).objective);
        input.gossip = 3;
        const Design thrice = design_of("muffliato", input);
        EXPECT_TRUE(spatial_covariance(thrice.plan) == spatial_covariance(once.plan));
        if (setting.named.name.starts_with("complete"))
            EXPECT_NEAR(thrice.objective, once.objective, 1e-9 * once.objective);
        else
            EXPECT_LT(thrice.objective, once.objective) << setting.named.name;
    }
}

TEST(Muffliato, GivesEveryAgentIndependentNoiseHoweverOftenItIsMixed) {
    const Setting setting = settings({6}).front();
    const Eigen::VectorXd kappa = random_kappa(6, unequal_kappa_seed);
    DesignInput input = setting.input(10, kappa);
    input.gossip = 4;
    const NoisePlan plan = design_of("muffliato", input).plan;
    EXPECT_TRUE(spatial_covariance(plan).isApprox(kappa.cwiseInverse().asDiagonal().toDenseMatrix(),
                                                  1e-12));
    for (const SeedGroup& group : plan.groups) EXPECT_EQ(group.members.size(), 1U);
}

}  // namespace
}  // namespace sotto
