#include "design/scheduled_utility.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/noise_fixtures.hpp"
#include "design/temporal_fixtures.hpp"
#include "design/temporal_utility.hpp"
#include "sotto/core/error.hpp"
#include "sotto/graph/mixing_schedule.hpp"

namespace sotto {
namespace {

using namespace test;

constexpr long rounds = 7;
const std::vector<double> steps{1, 0.8, 0.9, 0.5, 0.4, 0.6, 0.3};

/// Different graphs in turn; of directed ones push-sum.
MixingSchedule schedule_of(bool directed) {
    TopologySpec spec;
    spec.agents = 6;
    spec.edge_probability = 0.5;
    spec.graph_seed = 3;
    spec.directed = directed;
    return MixingSchedule(
        random_schedule(spec, directed ? "push-sum" : "row-stochastic", 4).matrices);
}

/// D^-1 W_tau^K ... W_t^K, by the definition.
Eigen::MatrixXd response(const MixingSchedule& schedule, long t, long tau, int gossip_steps) {
    PushSumWeights weights(schedule.agents());
    Eigen::MatrixXd product = Eigen::MatrixXd::Identity(schedule.agents(), schedule.agents());
    for (long round = 0; round <= tau; ++round)
        for (int step = 0; step < gossip_steps; ++step) {
            if (schedule.push_sum()) weights.mix(schedule.at(round));
            if (round >= t) product = schedule.at(round).dense() * product;
        }
    return weights.values().cwiseInverse().asDiagonal() * product;
}

TEST(ScheduledTemporalUtility, IsTheSumOverAllLaterModels) {
    const Eigen::MatrixXd covariance = random_positive_definite(6, 2);
    for (const bool directed : {false, true})
        for (const int gossip_steps : {1, 2}) {
            const MixingSchedule schedule = schedule_of(directed);
            const Eigen::MatrixXd found =
                temporal_utility(schedule, covariance, steps, gossip_steps);
            for (long s = 0; s < rounds; ++s)
                for (long t = 0; t < rounds; ++t) {
                    double wanted = 0;
                    for (long tau = std::max(s, t); tau < rounds; ++tau)
                        wanted += (response(schedule, t, tau, gossip_steps).transpose() *
                                   response(schedule, s, tau, gossip_steps) * covariance)
                                      .trace();
                    wanted *=
                        steps[static_cast<std::size_t>(s)] * steps[static_cast<std::size_t>(t)];
                    EXPECT_NEAR(found(s, t), wanted, 1e-10) << s << ", " << t;
                }
        }
}

TEST(ScheduledSpatialUtility, CostsWhatTheTemporalOneDoes) {
    const Eigen::MatrixXd covariance = random_positive_definite(6, 3);
    const MixingSchedule schedule = schedule_of(true);
    Eigen::MatrixXd lower = Eigen::MatrixXd::Zero(rounds, rounds);
    for (long t = 0; t < rounds; ++t)
        for (long s = 0; s <= t; ++s)
            lower(t, s) = s == t ? 1 : 0.3 / static_cast<double>(1 + t - s);
    const TemporalFactor dense{TemporalFactor::Kind::dense, lower};
    for (const TemporalFactor& factor : {TemporalFactor{}, dense}) {
        const Eigen::MatrixXd inverse = dense_factor(factor, rounds).inverse();
        const double wanted =
            (temporal_utility(schedule, covariance, steps) * inverse * inverse.transpose()).trace();
        const Eigen::MatrixXd found = spatial_utility(schedule, factor, steps);
        EXPECT_NEAR(found.cwiseProduct(covariance).sum(), wanted, 1e-10);
        EXPECT_LT((found - found.transpose()).cwiseAbs().maxCoeff(), 1e-12);
    }
}

TEST(ScheduledUtility, OfOneMatrixIsThatOfFixedMixing) {
    const Graph graph = make_graph(Topology::erdos_renyi, 6);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    const Eigen::MatrixXd covariance = random_positive_definite(6, 4);
    EXPECT_TRUE(temporal_utility(MixingSchedule({mixing, mixing}), covariance, steps)
                    .isApprox(temporal_utility(mixing, covariance, steps), 1e-12));
    EXPECT_TRUE(spatial_utility(MixingSchedule({mixing, mixing}), {}, steps)
                    .isApprox(spatial_utility(mixing, TemporalFactor{}, steps), 1e-12));
}

TEST(ScheduledUtility, IsRefusedForMoreRoundsThanItCanKeep) {
    const std::vector<double> many(2001, 1.0);
    EXPECT_TRUE(contains(message_of<ConfigError>([&] {
                             (void)temporal_utility(
                                 schedule_of(false), Eigen::MatrixXd::Identity(6, 6), many);
                         }),
                         "rounds: 2001 of 6 agents are too many"));
}

TEST(ScheduledJointUtility, OfAProductOfTimeAndSpaceIsTheObjectiveOfBoth) {
    const Eigen::MatrixXd covariance = random_positive_definite(6, 2);
    const Eigen::MatrixXd inverse_gram = random_positive_definite(rounds, 4);
    for (const bool directed : {false, true}) {
        const MixingSchedule schedule = schedule_of(directed);
        const Eigen::MatrixXd joint = joint_utility(schedule, steps, 2);
        double found = 0;
        for (long s = 0; s < rounds; ++s)
            for (long t = 0; t < rounds; ++t)
                found += inverse_gram(s, t) *
                         joint.block(6 * s, 6 * t, 6, 6).cwiseProduct(covariance).sum();
        const double expected =
            temporal_utility(schedule, covariance, steps, 2).cwiseProduct(inverse_gram).sum();
        EXPECT_NEAR(found, expected, 1e-11 * expected);
    }
}

}  // namespace
}  // namespace sotto
