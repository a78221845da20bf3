#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "core/test_support.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/seeded_random.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/plan_use.hpp"

namespace sotto {
namespace {

using namespace test;

/// Noise on messages from private streams: `coefficients[v]` for receiver v of agent 0's row, the
/// first for itself.
NoisePlan one_sender(const Eigen::MatrixXd& coefficients, StreamDistribution distribution) {
    const auto receivers = static_cast<int>(coefficients.rows());
    NoisePlan plan = blank_plan(receivers, 1);
    plan.rows.clear();
    plan.entry = NoiseEntry::message;
    plan.groups.push_back({{0}});
    std::vector<int> streams;
    for (Eigen::Index k = 0; k < coefficients.cols(); ++k) {
        streams.push_back(static_cast<int>(k));
        plan.streams.push_back({0, static_cast<std::uint64_t>(k), distribution});
    }
    for (int v = 0; v < receivers; ++v)
        plan.rows.push_back(
            {0, v, streams, {coefficients.row(v).begin(), coefficients.row(v).end()}});
    plan.validate();
    return plan;
}

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

TEST(ObservedPrecision, OfNoiseForEveryReceiverIsThatOfAllMessagesTogether) {
    SeededRandom random(4, "message noise");
    for (int receivers = 2; receivers < 7; ++receivers) {
        const Eigen::MatrixXd q = Eigen::MatrixXd::NullaryExpr(
            receivers, receivers + 1, [&] { return random.uniform() - 0.5; });
        const Eigen::MatrixXd others = q.bottomRows(receivers - 1);
        const Eigen::VectorXd ones = Eigen::VectorXd::Ones(receivers - 1);
        const double expected = ones.dot((others * others.transpose()).inverse() * ones);
        const NoisePlan plan = one_sender(q, StreamDistribution::gaussian);
        EXPECT_TRUE(relatively_near(observed_precision(plan, {})(0), expected, 1e-9));
        EXPECT_EQ(observed_precision(plan, {{0}})(0), infinity);
    }
}

TEST(ObservedPrecision, IsInfiniteWhereMessagesOfOneRoundCancelTheirNoise) {
    Eigen::MatrixXd q(3, 1);
    q << 0, 1, -1;
    EXPECT_EQ(observed_precision(one_sender(q, StreamDistribution::gaussian), {})(0), infinity);
    q << 0, 1, 1;
    EXPECT_DOUBLE_EQ(observed_precision(one_sender(q, StreamDistribution::gaussian), {})(0), 1);
}

TEST(ObservedPrecision, OfLaplaceNoiseIsTheSquaredInverseScale) {
    Eigen::MatrixXd q(3, 1);
    q << -2, 0.5, 0.5;
    EXPECT_EQ(observed_precision(one_sender(q, StreamDistribution::laplace), {})(0), 4);
    q << -2, 0.5, 0.25;
    EXPECT_THROW((void)observed_precision(one_sender(q, StreamDistribution::laplace), {}),
                 PrivacyError);
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

}  // namespace
}  // namespace sotto
