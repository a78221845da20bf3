#include "sotto/design/design.hpp"

#include <gtest/gtest.h>

#include "design/mechanism_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(DesignUtility, IsWhatUtilityRoundsAndGossipStepsGiveUnlessItIsGiven) {
    for (const auto& setting : settings({5})) {
        DesignInput input = setting.input(7);
        input.gossip = 2;
        EXPECT_EQ(design_utility(input),
                  utility_matrix(setting.mixing, {Utility::Kind::horizon, 7}, 100, 2));
        input.utility = {Utility::Kind::trajectory, 0};
        input.rounds = 9;
        EXPECT_EQ(design_utility(input),
                  utility_matrix(setting.mixing, {Utility::Kind::trajectory, 0}, 9, 2));
        input.given_utility = Eigen::MatrixXd::Constant(5, 5, 0.5);
        EXPECT_EQ(design_utility(input), *input.given_utility);
    }
}

TEST(DesignSteps, AreInUnitsOfTheFirst) {
    DesignInput input;
    input.rounds = 4;
    input.steps = {StepSchedule::Kind::inverse_sqrt, 0.3, {}};
    const std::vector<double> steps = design_steps(input);
    ASSERT_EQ(steps.size(), 4U);
    for (int t = 0; t < 4; ++t)
        EXPECT_NEAR(steps[static_cast<std::size_t>(t)], 1 / std::sqrt(t + 1.0), 1e-15);
}

TEST(Design, HasNoGapWithoutNoise) {
    EXPECT_EQ((Design{{}, 0, 0, false}).relative_gap(), 0);
    EXPECT_DOUBLE_EQ((Design{{}, 4, 3, false}).relative_gap(), 0.25);
}

}  // namespace
}  // namespace sotto
