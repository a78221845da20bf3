#include "agent/message_steps.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "agent/agent_fixtures.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

/// One private stream an agent, of this deviation.
NoisePlan private_noise(int agents, double deviation) {
    NoisePlan plan;
    plan.mechanism = "ldp";
    plan.agents = agents;
    plan.scale = deviation;
    plan.grid_step_log2 = -40;
    for (int u = 0; u < agents; ++u) {
        plan.groups.push_back({{u}});
        plan.streams.push_back({u, 0, StreamDistribution::gaussian});
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {1}});
    }
    plan.validate();
    return plan;
}

StepSchedule constant_steps(double size) {
    StepSchedule steps;
    steps.step_size = size;
    return steps;
}

/// Of a model in a mode that mixing multiplies by l: sums of squares, over all later rounds, of
/// what unit noise of one round, and a unit rounded away in one round, add to a message less what
/// receivers know of the one before.
struct DifferenceGains {
    double noise = 0, rounding = 0;
};

DifferenceGains gains_of(double l, Correction correction = Correction::none) {
    const auto gain = [&](double noise, double rounding) {
        double model = 0, carried = 0, known = 0, sum = 0;
        for (int age = 0; age < 2000; ++age) {
            const double step = model + (age == 0 ? noise : 0);
            const double message =
                correction == Correction::exact_diffusion ? step + model - carried : step;
            carried = step;
            const double error = age == 0 ? rounding : 0;
            sum += (message - known) * (message - known);
            known = message - error;
            model = l * message + (1 - l) * error;
        }
        return sum;
    };
    return {gain(1, 0), gain(0, 1)};
}

/// With what is rounded away, uniform over a step of six tenths of the motion without it.
double motion_in(const Eigen::VectorXd& modes,
                 double noise,
                 Correction correction = Correction::none) {
    DifferenceGains mean;
    for (const double l : modes) {
        const DifferenceGains one = gains_of(l, correction);
        mean.noise += one.noise / static_cast<double>(modes.size());
        mean.rounding += one.rounding / static_cast<double>(modes.size());
    }
    return noise * std::sqrt(mean.noise * (1 + 0.6 * 0.6 / 12 * mean.rounding));
}

Eigen::VectorXd spectrum_of(const Eigen::MatrixXd& mixing) {
    return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(mixing).eigenvalues();
}

TEST(PredictedMotion, IsThatOfTheSpectrum) {
    EXPECT_NEAR(gains_of(0.5).noise, 2 / 1.5, 1e-9);
    EXPECT_NEAR(gains_of(0.5).rounding, 1.5 * 1.5 + 0.125 / 1.5, 1e-9);
    for (const auto family : {Topology::ring, Topology::complete, Topology::erdos_renyi}) {
        const Topography topography = test::topography_of(family, 16);
        const NoisePlan plan = private_noise(16, 3);
        const MessageMotion motion =
            predicted_motion({.plan = plan, .mixing = topography.mixing, .rounds = 1000});
        ASSERT_EQ(motion.of_round.size(), 1U);
        EXPECT_NEAR(
            motion.of_round[0] / motion_in(spectrum_of(topography.mixing.dense()), 3), 1, 0.01);
        EXPECT_TRUE(motion.of_final.empty());
    }
}

TEST(PredictedMotion, OfExactDiffusionIsThatOfItsMessages) {
    const Topography topography = test::topography_of(Topology::ring, 16);
    const NoisePlan plan = private_noise(16, 3);
    const GossipPolynomial lazy =
        GossipPolynomial(1).with_laziness(laziness_for(topography.mixing, 1));
    const MessageMotion motion = predicted_motion({.plan = plan,
                                                   .mixing = topography.mixing,
                                                   .gossip = lazy,
                                                   .correction = Correction::exact_diffusion,
                                                   .rounds = 1000});
    const Eigen::VectorXd modes = spectrum_of(lazy.of(topography.mixing.dense()));
    EXPECT_NEAR(motion.of_round[0] / motion_in(modes, 3, Correction::exact_diffusion), 1, 0.01);
}

TEST(PredictedMotion, OfLaterExchangesIsSmaller) {
    const Topography topography = test::topography_of(Topology::ring, 20);
    const NoisePlan plan = private_noise(20, 1);
    const MessageMotion motion = predicted_motion(
        {.plan = plan, .mixing = topography.mixing, .gossip = 4, .final_gossip = 3, .rounds = 100});
    ASSERT_EQ(motion.of_round.size(), 4U);
    ASSERT_EQ(motion.of_final.size(), 3U);
    for (std::size_t k = 1; k < 4; ++k) EXPECT_LT(motion.of_round[k], motion.of_round[k - 1]);
    EXPECT_LT(motion.of_final[2], motion.of_round[3]);
    // The second difference is (W - I) m_0.
    EXPECT_GT(motion.of_round[1], 0.4);
}

TEST(PredictedMotion, CountsContributionsAndMomentum) {
    // On a complete graph: the mean moves by u, of variance 1 / (1 - B^2) times a contribution's,
    // and the rest by the difference of two rounds' u, 2 / (1 + B).
    constexpr int n = 5;
    const Topography topography = test::topography_of(Topology::complete, n);
    const NoisePlan none = test::silent_plan(n);
    for (const double momentum : {0.0, 0.5}) {
        MessageDrive drive{
            .plan = none, .mixing = topography.mixing, .momentum = momentum, .rounds = 1000};
        EXPECT_EQ(predicted_motion(drive).of_round[0], 0);
        drive.gradient_std = 0.5;
        const double variance =
            (1 / (1 - momentum * momentum) + (n - 1) * 2 / (1 + momentum)) / n * 0.25;
        // What is rounded away: once in the mean, 2^2 + 1^2 in the rest.
        const double rounding = 0.6 * 0.6 / 12 * (1 + (n - 1) * 5.0) / n;
        EXPECT_NEAR(
            predicted_motion(drive).of_round[0] / std::sqrt(variance * (1 + rounding)), 1, 0.01);
    }
}

TEST(MessageSteps, ArePowersOfTwoNearHalfTheMotion) {
    for (const double motion : {1e-6, 0.37, 1.0, 2.5, 1e4}) {
        const MessageSteps steps({{motion}, {}}, constant_steps(0.1), 10);
        const double step = steps.at({3, 0});
        int exponent = 0;
        EXPECT_EQ(std::frexp(step, &exponent), 0.5);
        EXPECT_GE(step, 0.42 * 0.1 * motion * (1 - 1e-12));
        EXPECT_LT(step, 0.84 * 0.1 * motion);
        EXPECT_GT(steps.limit(), 0x1p23 * step);
    }
}

TEST(MessageSteps, FollowTheStepSize) {
    StepSchedule linear = constant_steps(0.1);
    linear.kind = StepSchedule::Kind::linear;
    linear.rounds = 1000;
    const MessageSteps steps({{1.0}, {0.3}}, linear, 1000);
    for (long round = 0; round < 1000; ++round) {
        const double step = steps.at({round, 0});
        EXPECT_LE(step, 2 * 0.84 * linear.at(round) + steps.at({0, 0}) / 64);
        EXPECT_GE(step, 0.42 * linear.at(round) * (1 - 1e-12));
    }
    EXPECT_EQ(steps.at({999, 0}), steps.at({0, 0}) / 64);
    EXPECT_LE(steps.at({1000, 0}), steps.at({999, 0}));
    EXPECT_THROW((void)steps.at({0, 1}), Error);
}

TEST(MessageSteps, AreReadAsTheyAreWritten) {
    StepSchedule falling = constant_steps(0.1);
    falling.kind = StepSchedule::Kind::inverse_sqrt;
    const MessageSteps steps({{1.0, 0.2}, {0.1}}, falling, 100);
    const MessageSteps same = MessageSteps::parse(steps.text(), 100);
    EXPECT_EQ(same.text(), steps.text());
    EXPECT_TRUE(same.near(steps));
    EXPECT_EQ(same.at({50, 1}), steps.at({50, 1}));
    for (const char* text : {"", "1;2", "1;;0:0,0:1", "x;;0:0", "1;;0:99", "1;;100:0", "5000;;0:0"})
        EXPECT_THROW((void)MessageSteps::parse(text, 100), ConfigError) << text;
}

TEST(MessageSteps, AreNearIfLastDigitsDecided) {
    const MessageSteps steps = MessageSteps::parse("-4,-6;-8;0:0,5:1", 100);
    EXPECT_TRUE(steps.near(MessageSteps::parse("-4,-5;-9;0:0,6:1", 100)));
    EXPECT_FALSE(steps.near(MessageSteps::parse("-4,-3;-8;0:0,5:1", 100)));
    EXPECT_FALSE(steps.near(MessageSteps::parse("-4;-8;0:0,5:1", 100)));
    EXPECT_FALSE(steps.near(MessageSteps::parse("-4,-6;-8;0:0,5:4", 100)));
}

}  // namespace
}  // namespace sotto
