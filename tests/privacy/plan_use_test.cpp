#include "sotto/privacy/plan_use.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/test_support.hpp"
#include "privacy/message_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using namespace test;

/// Largest squared sensitivity over patterns, by writing down the map from contributions to
/// messages.
double brute_force(const PlanUse& use, double lambda, long rounds, bool laplace) {
    double largest = 0;
    for (long j = 0; j < use.participation.cycle; ++j) {
        double squares = 0, sum = 0;
        for (long t = 0; t < rounds; ++t) {
            double moved = 0;
            for (long s = j; s <= t; s += use.participation.cycle)
                moved += use.steps.at(s) * std::pow(lambda, static_cast<double>(t - s));
            squares += moved * moved;
            sum += moved;
        }
        largest = std::max(largest, laplace ? sum * sum : squares);
    }
    return largest;
}

TEST(RunSensitivity, PilesUpWhatAnAgentsOwnCopyKeeps) {
    for (const double beta : {-2.0, -0.5, 0.0, 1.0})
        for (const double own_weight : {0.25, 0.5, 1.0})
            for (const long cycle : {1L, 4L})
                for (const auto distribution :
                     {StreamDistribution::gaussian, StreamDistribution::laplace})
                    for (const auto kind :
                         {StepSchedule::Kind::constant, StepSchedule::Kind::inverse_sqrt}) {
                        Eigen::MatrixXd q(3, 1);
                        q << beta, 1, 1;
                        const PlanUse use{
                            {cycle}, {kind, 0.3, {}}, Eigen::VectorXd::Constant(3, own_weight), 1};
                        const double expected =
                            brute_force(use,
                                        own_weight * (1 - beta),
                                        11,
                                        distribution == StreamDistribution::laplace);
                        EXPECT_TRUE(relatively_near(
                            run_sensitivity_squared(one_sender(q, distribution), use, 11)(0),
                            expected,
                            1e-9));
                    }
}

TEST(RoundShifts, AreTheLargestOfARoundWhereContributionsPileUp) {
    Eigen::MatrixXd q(3, 1);
    q << 0, 1, 1;
    for (const auto distribution : {StreamDistribution::gaussian, StreamDistribution::laplace})
        for (const double own_weight : {0.25, 1.0}) {
            const PlanUse use{{2},
                              {StepSchedule::Kind::constant, 0.3, {}},
                              Eigen::VectorXd::Constant(3, own_weight),
                              1};
            // Unit changes in rounds 0, 2, 4, ... of 11, each kept with the weight's power.
            double expected = 0;
            for (int t = 0; t < 11; t += 2) expected += 0.3 * std::pow(own_weight, t);
            EXPECT_TRUE(relatively_near(
                largest_round_shifts(one_sender(q, distribution), use, 11)(0), expected, 1e-9));
        }
    const NoisePlan plan = private_plan({1, 2});
    EXPECT_EQ(largest_round_shifts(plan, {}, 5), Eigen::Vector2d(1, 1));
}

TEST(RunSensitivity, RefusesWhereNoBoundIsKnown) {
    Eigen::MatrixXd q(2, 2);
    q << 1, 1, 1, 0;  // the own copy carries a stream nobody else sees
    const PlanUse use{{}, {}, Eigen::VectorXd::Constant(2, 0.5), 1};
    EXPECT_THROW((void)run_sensitivity_squared(one_sender(q, StreamDistribution::gaussian), use, 3),
                 PrivacyError);
    q << 1, 0, 1, 0;
    NoisePlan plan = one_sender(q, StreamDistribution::gaussian);
    PlanUse twice = use;
    twice.gossip_steps = 2;
    plan.mechanism = "zip-dl";
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { (void)run_sensitivity_squared(plan, twice, 3); }),
                 "gossip-steps: 2 is not possible with mechanism zip-dl"));
    plan.temporal = {TemporalFactor::Kind::dense, Eigen::MatrixXd::Identity(3, 3)};
    EXPECT_THROW((void)run_sensitivity_squared(plan, use, 3), PrivacyError);
}

TEST(RunSensitivity, OfNoiseOnGradientsIsThatOfTheTemporalFactor) {
    NoisePlan plan = private_plan({1, 2, 4});
    plan.temporal = {TemporalFactor::Kind::banded, Eigen::MatrixXd::Constant(8, 2, 0.5)};
    for (const long cycle : {1L, 3L})
        EXPECT_EQ(
            run_sensitivity_squared(plan, {{cycle}, {}, {}}, 8),
            Eigen::Vector3d::Constant(temporal_sensitivity_squared(plan.temporal, {cycle}, 8)));
    EXPECT_EQ(run_sensitivity_squared(plan, {}, 0), Eigen::Vector3d::Zero());
}

TEST(PatternSensitivity, HasTheLargestAsThatOfTheRun) {
    for (const auto distribution : {StreamDistribution::gaussian, StreamDistribution::laplace})
        for (const long cycle : {1L, 4L}) {
            const NoisePlan plan = one_sender(Eigen::Vector3d(-0.5, 1, 1), distribution);
            const PlanUse use{{cycle},
                              {StepSchedule::Kind::inverse_sqrt, 0.3, {}},
                              Eigen::Vector3d::Constant(0.5),
                              1};
            const Eigen::MatrixXd patterns = pattern_sensitivity_squared(plan, use, 11);
            EXPECT_EQ(patterns.cols(), cycle);
            EXPECT_EQ(patterns.rowwise().maxCoeff(), run_sensitivity_squared(plan, use, 11));
        }
}

TEST(LargestMessageVariance, IsThatOfTheLoudestMessage) {
    Eigen::MatrixXd q(3, 2);
    q << 9, 9, 1, 2, 3, 0.5;
    NoisePlan plan = one_sender(q, StreamDistribution::gaussian);
    plan.scale = 2;
    EXPECT_DOUBLE_EQ(largest_message_variance(plan)(0), 4 * 162);
    // A Laplace variable of scale 1 has variance 2.
    EXPECT_DOUBLE_EQ(largest_message_variance(
                         one_sender(Eigen::Vector3d(1, 3, 3), StreamDistribution::laplace))(0),
                     2 * 9);
}

}  // namespace
}  // namespace sotto
