#include "planning/person_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "planning/planning_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

PlanConfig config_for(const std::string& mechanism, int unit_agents) {
    PlanConfig config = test::config_of(mechanism);
    config.epsilon = 2;
    config.unit_agents = unit_agents;
    return config;
}

TEST(PersonNoise, HoldsTheBudgetForPersonsAtSeveralAgents) {
    const Topography topography = test::random_topography(9);
    for (const char* mechanism : {"ldp", "pairs", "corn", "cdp", "zip-dl", "mafalda"})
        for (const int agents : {2, 3}) {
            const PlanConfig config = config_for(mechanism, agents);
            const test::Planned made = test::plan(config, topography);
            const auto figure =
                person_figure(made.planned.design.plan, config, made.exposures, config.delta);
            ASSERT_TRUE(figure) << mechanism;
            EXPECT_NEAR(figure->guarantee.epsilon, 2, 1e-5) << mechanism << agents;
            const NoisePlan& plan = made.planned.design.plan;
            const Guarantee single = largest(coalition_guarantees(
                plan, plan.coalition_size, made.exposures, made.budgets.front().delta));
            EXPECT_LT(single.epsilon, 1.9) << mechanism << agents;
        }
}

TEST(PersonNoise, OfOneAgentIsThePlanAsItWas) {
    const Topography topography = test::random_topography(8);
    const test::Planned made = test::plan(config_for("pairs", 1), topography);
    EXPECT_FALSE(
        person_figure(made.planned.design.plan, config_for("pairs", 1), made.exposures, 1e-5));
    const test::Planned two = test::plan(config_for("pairs", 2), topography);
    EXPECT_GT(two.planned.design.plan.scale, made.planned.design.plan.scale);
    EXPECT_GT(two.planned.design.objective, made.planned.design.objective);
    EXPECT_EQ(two.planned.design.lower_bound, made.planned.design.lower_bound);
}

TEST(PersonNoise, OfIndependentNoiseIsKTimesTheVariance) {
    const Topography topography = test::random_topography(8);
    const test::Planned one = test::plan(config_for("ldp", 1), topography);
    const test::Planned three = test::plan(config_for("ldp", 3), topography);
    EXPECT_NEAR(three.planned.design.objective,
                3 * one.planned.design.objective,
                1e-6 * one.planned.design.objective);
    EXPECT_NEAR(three.planned.ldp_objective,
                3 * one.planned.ldp_objective,
                1e-6 * one.planned.ldp_objective);
    EXPECT_NEAR(three.planned.cdp_objective,
                9 * one.planned.cdp_objective,
                1e-6 * one.planned.cdp_objective);
}

TEST(PersonNoise, OfATrustedMeanIsKSquaredTimesTheVariance) {
    const Topography topography = test::random_topography(8);
    const test::Planned one = test::plan(config_for("cdp", 1), topography);
    const test::Planned two = test::plan(config_for("cdp", 2), topography);
    EXPECT_NEAR(two.planned.design.objective,
                4 * one.planned.design.objective,
                1e-6 * one.planned.design.objective);
}

TEST(PersonNoise, OfSampledRecordsHoldsTheBudgetAtTheJointProbability) {
    PlanConfig config = config_for("pairs", 2);
    config.adjacency = Adjacency::record_add_remove;
    config.participation = {.cycle = 1, .poisson = true};
    config.sampling_probability = 0.05;
    config.clip_norm = 1;
    const Topography topography = test::random_topography(7);
    const CountedRounds counted = count_rounds(config, 7, {});
    const PlannedNoise planned = plan_noise(config, topography, counted);
    const CountedPlan now = count_plan(planned.design.plan, config, topography, counted);
    const auto figure = person_figure(planned.design.plan, config, now.exposures, config.delta);
    ASSERT_TRUE(figure);
    EXPECT_NEAR(figure->probability, 1 - 0.95 * 0.95, 1e-12);
    EXPECT_LE(figure->guarantee.epsilon, 2 + 1e-9);
    EXPECT_GT(figure->guarantee.epsilon, 1.98);
    test::expect_contains(text_of(*figure), "at up to 2 agents");
}

TEST(PersonNoise, IsRefusedForMoreAgentsThanThereAre) {
    const Topography topography = test::random_topography(4);
    test::expect_contains(test::message_of<ConfigError>(
                              [&] { (void)test::plan(config_for("pairs", 5), topography); }),
                          "unit-agents: 5 is not possible with 4 agents");
    EXPECT_THROW((void)test::plan(config_for("homomorphic", 2), topography), ConfigError);
}

TEST(PersonNoise, GivenByItsDeviationStaysAsItIs) {
    const Topography topography = test::random_topography(6);
    PlanConfig config = config_for("ldp", 2);
    config.noise_std = 3;
    const test::Planned two = test::plan(config, topography);
    config.unit_agents = 1;
    const test::Planned one = test::plan(config, topography);
    EXPECT_EQ(one.planned.design.plan.scale, two.planned.design.plan.scale);
}

}  // namespace
}  // namespace sotto
