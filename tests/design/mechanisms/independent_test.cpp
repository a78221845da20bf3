

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "design/message_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(None, HasAGridOnWhichClippedGradientsOfAnyNormAddUpExactly) {
    const auto setting = settings({5}).front();
    DesignInput input = setting.input(1);
    for (const double clip : {1e-3, 1.0, 8191.0, 8192.0, 1e5, 3e20}) {
        input.clip_norm = clip;
        const double step = design_of("none", input).plan.grid_step();
        EXPECT_LT(clip / step, 0x1p53);
        EXPECT_EQ(step == 0x1p-40, clip < 8192) << clip;
    }
}

TEST(None, AddsNothing) {
    const Design design = design_of("none", settings({5}).front().input(1));
    EXPECT_TRUE(design.plan.noiseless());
    EXPECT_EQ(design.plan.scale, 0.0);
    EXPECT_EQ(design.objective, 0.0);
    EXPECT_FALSE(find_mechanism("mechanism", "none").needs_budget);
}

using namespace test;

TEST(Ldp, GivesEveryAgentItsOwnVariance) {
    for (const auto& setting : settings({6})) {
        const Eigen::VectorXd kappa = random_kappa(6, unequal_kappa_seed);
        const Design design = design_of("ldp", setting.input(10, kappa));
        EXPECT_TRUE(spatial_covariance(design.plan)
                        .isApprox(kappa.cwiseInverse().asDiagonal().toDenseMatrix(), 1e-12));
        EXPECT_EQ(design.plan.streams_per_agent(), 1);
    }
}

using namespace test;

TEST(Laplace, AddsOneStreamOfEveryAgentToAllCopiesOfItsMessage) {
    for_each_plan(
        find_mechanism("mechanism", "laplace"), [](const DesignInput&, const NoisePlan& plan) {
            EXPECT_TRUE(plan.same_message_to_all());
            ASSERT_EQ(plan.rows.size(), static_cast<std::size_t>(plan.agents));
            for (int u = 0; u < plan.agents; ++u) {
                const NoiseRow& row = plan.rows[static_cast<std::size_t>(u)];
                EXPECT_EQ(row.sender, u);
                EXPECT_EQ(row.streams, std::vector<int>{u});
                EXPECT_EQ(plan.groups[static_cast<std::size_t>(u)].members, std::vector<int>{u});
                EXPECT_EQ(plan.streams[static_cast<std::size_t>(u)].distribution,
                          StreamDistribution::laplace);
            }
        });
}

TEST(Laplace, HasTheScaleOfAllStepsOfAParticipationTogether) {
    // One change moves the messages by eta_t in every round t, which the noise of each hides by
    // itself: the loss is sum eta_t / b, and kappa allows sqrt(T kappa).
    const Graph graph = make_graph(Topology::ring, 6);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = 9;
    input.steps = {StepSchedule::Kind::constant, 0.2, {}};
    input.kappa = Eigen::VectorXd::Constant(6, 0.7);
    const double scale = 9 * 0.2 / std::sqrt(9 * 0.7);
    const Eigen::VectorXd variances = largest_message_variance(design_of("laplace", input).plan);
    for (int u = 0; u < 6; ++u)
        EXPECT_TRUE(relatively_near(variances(u), 2 * scale * scale, 1e-9)) << "agent " << u;
}

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

using namespace test;

TEST(DpFedavg, HasTheNoiseOfATrustedAggregator) {
    for (const auto& setting : settings({1, 6})) {
        const DesignInput input = setting.input(10);
        const Design design = design_of("dp-fedavg", input), cdp = design_of("cdp", input);
        EXPECT_EQ(design.objective, cdp.objective);
        EXPECT_EQ(design.plan.aggregation, Aggregation::trusted_mean);
        EXPECT_EQ(design.plan.grid_step(), cdp.plan.grid_step());
        EXPECT_EQ(spatial_covariance(design.plan), spatial_covariance(cdp.plan));
    }
}

TEST(DpFedavg, AloneTakesLocalSteps) {
    EXPECT_EQ(mechanisms_with(&Mechanism::local_updates), std::vector<std::string>{"dp-fedavg"});
}

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
