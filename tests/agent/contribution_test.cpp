// What an agent contributes to a round, before noise. Clipping itself is clipping_test.cpp.

#include "agent/contribution.hpp"

#include <gtest/gtest.h>

#include "agent/agent_fixtures.hpp"

namespace sotto {
namespace {

using Eigen::VectorXd;

constexpr double grid = 0x1p-30;

/// An agent whose gradient at x is x less one.
LocalAgent towards_one(Eigen::Index dimension) {
    return test::local_agent(
        0,
        std::make_unique<test::FunctionObjective>(
            dimension, [](const VectorXd& x) { return VectorXd(x.array() - 1); }),
        1);
}

/// Of round 3.
VectorXd contribution_of(LocalAgent& agent, const TrainerOptions& options, const VectorXd& model) {
    VectorXd contribution(model.size());
    AgentReport report;
    contribute({options, NoiseEntry::gradient, false, grid}, 3, model, agent, contribution, report);
    return contribution;
}

TEST(Contribution, IsTheGradientAtTheModelWhereItIsNoLongerThanTheClip) {
    TrainerOptions options;
    options.clip_norm = 10;
    LocalAgent agent = towards_one(3);
    EXPECT_EQ(contribution_of(agent, options, VectorXd::Constant(3, 0.25)),
              VectorXd::Constant(3, -0.75));
    options.clip_norm = 0.5;
    const VectorXd clipped = contribution_of(agent, options, VectorXd::Constant(3, 0.25));
    EXPECT_LE(clipped.norm(), 0.5);
    EXPECT_NEAR(clipped.norm(), 0.5, 1e-8);
}

TEST(Contribution, ThatIsNotFiniteIsZeroAndCounted) {
    TrainerOptions options;
    LocalAgent agent = test::local_agent(
        0,
        std::make_unique<test::FunctionObjective>(
            2, [](const VectorXd&) { return VectorXd::Constant(2, std::nan("")); }),
        1);
    VectorXd contribution(2);
    AgentReport report;
    const VectorXd model = VectorXd::Zero(2);
    contribute({options, NoiseEntry::gradient, false, grid}, 0, model, agent, contribution, report);
    EXPECT_EQ(contribution, VectorXd::Zero(2));
    EXPECT_EQ(report.gradients_set_to_zero, 1);
}

TEST(Contribution, IsRefusedWhereTheClipLeavesNoRoomForRoundingMessages) {
    TrainerOptions options;
    options.clip_norm = 1;
    LocalAgent agent = towards_one(2);
    VectorXd contribution(2);
    AgentReport report;
    const VectorXd model = VectorXd::Zero(2);
    EXPECT_THROW(
        contribute(
            {options, NoiseEntry::message, false, 0x1p-4}, 0, model, agent, contribution, report),
        PrivacyError);
}

}  // namespace
}  // namespace sotto
