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

TEST(Contribution, OfLocalStepsIsTheWayTheyLeadOverTheStepSizeWithoutRegularisationAtTheModel) {
    TrainerOptions options;
    options.clip_norm = 100;
    options.steps = {StepSchedule::Kind::inverse, 0.4, {}};
    const double step = options.steps.at(3);
    for (const double l2 : {0.0, 0.5})
        for (const int steps : {1, 2, 7}) {
            options.l2 = l2;
            options.local_steps = steps;
            LocalAgent agent = towards_one(3);
            const VectorXd model = VectorXd::LinSpaced(3, -2, 4);
            VectorXd walked = model;
            for (int e = 0; e < steps; ++e)
                walked -= step * (VectorXd(walked.array() - 1) + l2 * walked);
            const VectorXd expected = (model - walked) / step - steps * l2 * model;
            EXPECT_LT((contribution_of(agent, options, model) - expected).cwiseAbs().maxCoeff(),
                      1e-8)
                << steps << " steps, l2 " << l2;
        }
}

TEST(Contribution, OfLocalStepsIsClippedAsAWhole) {
    TrainerOptions options;
    options.clip_norm = 0.7;
    options.local_steps = 4;
    options.steps.step_size = 0.01;
    LocalAgent agent = towards_one(2);
    // Four gradients of length one half each, and nearly so.
    const VectorXd model = VectorXd::Constant(2, 1 + 0.5 / std::sqrt(2.0));
    const VectorXd clipped = contribution_of(agent, options, model);
    EXPECT_LE(clipped.norm(), 0.7);
    EXPECT_NEAR(clipped.norm(), 0.7, 1e-8);
    options.clip_norm = 2.1;
    EXPECT_NEAR(contribution_of(agent, options, model).norm(), 2, 0.05);
}

TEST(Contribution, OfEveryLocalStepHasABatchOfItsOwn) {
    std::vector<Eigen::Index> asked;
    class AskedRows final : public Objective {
      public:
        explicit AskedRows(std::vector<Eigen::Index>& asked) : asked_(asked) {}
        Eigen::Index dimension() const override { return 1; }
        Eigen::Index records() const override { return 20; }
        void mean_gradient(const Eigen::Ref<const VectorXd>&,
                           std::span<const Eigen::Index> rows,
                           Eigen::Ref<VectorXd> gradient) override {
            asked_.insert(asked_.end(), rows.begin(), rows.end());
            gradient.setZero();
        }
        void clipped_gradient_sum(const Eigen::Ref<const VectorXd>&,
                                  std::span<const Eigen::Index>,
                                  double,
                                  double,
                                  Eigen::Ref<VectorXd>) override {}
        bool record_clipping() const override { return false; }
        LossSum train_loss(const Eigen::Ref<const VectorXd>&) override { return {}; }
        LossSum test_loss(const Eigen::Ref<const VectorXd>&, Eigen::Index, Eigen::Index) override {
            return {};
        }

      private:
        std::vector<Eigen::Index>& asked_;
    };
    TrainerOptions options;
    options.local_steps = 3;
    LocalAgent agent{0, std::make_unique<AskedRows>(asked), BatchSampler::in_order(20), 1};
    (void)contribution_of(agent, options, VectorXd::Zero(1));
    EXPECT_EQ(asked, (std::vector<Eigen::Index>{9, 10, 11}));  // of round 3
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
