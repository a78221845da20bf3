#include "planning/plan_input.hpp"

#include <gtest/gtest.h>

#include "planning/planning_fixtures.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::random_topography;

TEST(PlanInput, MakesThePlanOfPlanNoise) {
    const Topography topography = random_topography(6);
    for (const char* mechanism : {"ldp", "corn", "mafalda"}) {
        const PlanConfig config = config_of(mechanism);
        const auto exposures = build_exposures(config, 6, {});
        const auto budgets = build_budgets(config, 6);
        const DesignInput input = plan_input(config, topography, exposures, budgets, std::nullopt);
        EXPECT_EQ(input.kappa.size(), 6);
        EXPECT_EQ(input.graph, &topography.graph);
        const PlannedNoise planned = planned_for(input, config, std::nullopt, true);
        EXPECT_TRUE(planned.solved);
        EXPECT_EQ(planned.design.plan.hash(),
                  test::plan(config, topography).planned.design.plan.hash());
    }
}

TEST(PlanInput, OfAGivenUtilityIsSolvedForIt) {
    const Topography topography = random_topography(5);
    const PlanConfig config = config_of("ldp");
    const auto exposures = build_exposures(config, 5, {});
    DesignInput input =
        plan_input(config, topography, exposures, build_budgets(config, 5), std::nullopt);
    input.given_utility = Eigen::MatrixXd::Identity(5, 5);
    EXPECT_NEAR(planned_for(input, config, std::nullopt, true).design.objective, 5, 1e-9);
}

}  // namespace
}  // namespace sotto
