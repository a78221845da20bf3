#include "design/changing_utility.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "design/noise_fixtures.hpp"
#include "design/spatial_solver.hpp"
#include "design/temporal_fixtures.hpp"
#include "design/temporal_utility.hpp"
#include "sotto/core/error.hpp"
#include "sotto/graph/mixing_schedule.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
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

/// Who is there in a round, and how likely that is.
struct Presence {
    Eigen::VectorXd there;
    double probability = 1;
};

std::vector<Presence> all_presences(int agents, double missing) {
    std::vector<Presence> all;
    for (int set = 0; set < (1 << agents); ++set) {
        Presence& presence = all.emplace_back();
        presence.there = Eigen::VectorXd::Zero(agents);
        for (int u = 0; u < agents; ++u) {
            presence.there(u) = (set >> u) % 2;
            presence.probability *= (set >> u) % 2 == 1 ? 1 - missing : missing;
        }
    }
    return all;
}

/// Weights of messages that do not arrive go to the agent itself.
MatrixXd mixing_of_those_there(const MatrixXd& mixing, const Eigen::VectorXd& there) {
    MatrixXd result = there.asDiagonal() * mixing * there.asDiagonal();
    result.diagonal().setZero();
    const Eigen::VectorXd sums = result.rowwise().sum();
    result.diagonal() = Eigen::VectorXd::Ones(mixing.rows()) - sums;
    return result;
}

/// The expectation over every set of agents of every round, without any formula.
MatrixXd enumerated(const MixingMatrix& mixing,
                    const std::vector<double>& weights,
                    double missing) {
    const auto presences = all_presences(mixing.agents(), missing);
    const Eigen::Index n = mixing.agents();
    MatrixXd later = MatrixXd::Zero(n, n);
    for (std::size_t age = weights.size(); age >= 1; --age) {
        later += weights[age - 1] * MatrixXd::Identity(n, n);
        MatrixXd mean = MatrixXd::Zero(n, n);
        for (const auto& [there, probability] : presences) {
            MatrixXd step = mixing_of_those_there(mixing.dense(), there);
            if (age == 1) step = step * there.asDiagonal();
            mean += probability * step.transpose() * later * step;
        }
        later = mean;
    }
    return later;
}

/// E[W_S^T W_S].
MatrixXd enumerated_later(const MixingMatrix& mixing, double missing) {
    MatrixXd mean = MatrixXd::Zero(mixing.agents(), mixing.agents());
    for (const auto& [there, probability] : all_presences(mixing.agents(), missing)) {
        const MatrixXd step = mixing_of_those_there(mixing.dense(), there);
        mean += probability * step.transpose() * step;
    }
    return mean;
}

void expect_enumerated(const MixingMatrix& mixing) {
    constexpr long rounds = 4;
    for (const double missing : {0.05, 0.5}) {
        const auto made = [&](Utility::Kind kind) {
            return dropout_utility(mixing, {kind, 3}, rounds, missing);
        };
        EXPECT_LT((made(Utility::Kind::one_step) - enumerated(mixing, {1}, missing)).norm(), 1e-13);
        EXPECT_LT((made(Utility::Kind::horizon) - enumerated(mixing, {1, 1, 1}, missing)).norm(),
                  1e-13);
        EXPECT_LT(
            (made(Utility::Kind::final_model) - enumerated(mixing, {1, 1, 1, 1}, missing)).norm(),
            1e-13);
        EXPECT_LT(
            (made(Utility::Kind::trajectory) - enumerated(mixing, {4, 3, 2, 1}, missing)).norm(),
            1e-13);
    }
}

TEST(DropoutUtility, IsTheMeanOverAllSetsOfMissingAgents) {
    for (const auto& [name, graph] : sample_graphs({1, 4, 6})) {
        SCOPED_TRACE(name);
        expect_enumerated(MixingMatrix::from_rule(graph, MixingRule::metropolis));
        expect_enumerated(MixingMatrix::from_rule(graph, MixingRule::row_stochastic));
    }
}

TEST(DropoutUtility, HoldsOnDirectedGraphsToo) {
    TopologySpec spec;
    spec.topology = Topology::exponential;
    spec.agents = 5;
    spec.directed = true;
    expect_enumerated(
        MixingMatrix::from_rule(make_topology(spec).graph, MixingRule::row_stochastic));
}

TEST(DropoutUtility, IsTheUtilityItselfWhereNobodyIsMissing) {
    const MixingMatrix mixing =
        MixingMatrix::from_rule(make_graph(Topology::erdos_renyi, 9), MixingRule::metropolis);
    for (const Utility& utility : {Utility{Utility::Kind::one_step, 1},
                                   Utility{Utility::Kind::horizon, 7},
                                   Utility{Utility::Kind::trajectory, 0}}) {
        const MatrixXd wanted = utility_matrix(mixing, utility, 300);
        EXPECT_LT((dropout_utility(mixing, utility, 300, 0) - wanted).norm(),
                  1e-12 * wanted.norm());
    }
}

TEST(DropoutUtility, NeedsNoCapOnNoiseWhereAveragingIsExact) {
    const MixingMatrix mixing = MixingMatrix::average(6);
    const MatrixXd utility = dropout_utility(mixing, {Utility::Kind::one_step, 1}, 1, 0.01);
    EXPECT_GT(symmetric_eigenvalues(utility)(0), 1e-4);
    EXPECT_LT(symmetric_eigenvalues(utility_matrix(mixing, {Utility::Kind::one_step, 1}, 1))(0),
              1e-12);
    const SpatialSolution solution = solve_spatial_covariance(utility, Eigen::VectorXd::Ones(6));
    EXPECT_EQ(solution.status, SpatialStatus::optimal);
    EXPECT_LT(solution.relative_gap(), 1e-6);
}

TEST(RecoveredNoise, IsTheMeanOverAllSetsOfWhatStreamsOfThoseThereLeave) {
    const Graph graph = make_graph(Topology::erdos_renyi, 5);
    for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic}) {
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, rule);
        NoisePlan plan;
        plan.agents = 5;
        plan.scale = 0.7;
        plan.groups = {{{0}}, {{1, 3}}, {{0, 2, 4}}, {{0, 1, 2, 3, 4}}};
        for (int group = 0; group < 4; ++group) plan.streams.push_back({group, 0});
        const MatrixXd coefficients{
            {1, 0, 0.5, 2}, {0, 1, 0, -1}, {0, 0, -2, 0.5}, {0, -0.5, 0, 1}, {0, 0, 1, 3}};
        for (int u = 0; u < 5; ++u) {
            NoiseRow& row = plan.rows.emplace_back();
            row.sender = u;
            for (int k = 0; k < 4; ++k) {
                if (coefficients(u, k) == 0) continue;
                row.streams.push_back(k);
                row.coefficients.push_back(coefficients(u, k));
            }
        }
        constexpr double missing = 0.3;
        const MatrixXd later = MatrixXd::Identity(5, 5) + enumerated_later(mixing, missing);
        double expected = 0;
        for (const auto& [there, probability] : all_presences(5, missing)) {
            const MatrixXd step = mixing_of_those_there(mixing.dense(), there);
            for (std::size_t k = 0; k < 4; ++k) {
                double held = 1;
                for (const int member : plan.groups[k].members) held *= there(member);
                const Eigen::VectorXd left =
                    step * (plan.scale * held * coefficients.col(static_cast<Eigen::Index>(k)));
                expected += probability * left.dot(later * left);
            }
        }
        EXPECT_NEAR(recovered_noise(plan, mixing, {Utility::Kind::horizon, 2}, 9, missing),
                    expected,
                    1e-12 * expected);
    }
}

TEST(DropoutUtility, RefusesPushSumAndImpossibleProbabilities) {
    const Graph graph = make_graph(Topology::ring, 4);
    const Utility utility{Utility::Kind::one_step, 1};
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] {
                     (void)dropout_utility(
                         MixingMatrix::from_rule(graph, MixingRule::push_sum), utility, 1, 0.1);
                 }),
                 "push-sum"));
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    for (const double impossible : {-0.1, 1.0, not_a_number})
        EXPECT_TRUE(contains(
            message_of<ConfigError>([&] { (void)dropout_utility(mixing, utility, 1, impossible); }),
            "from 0 to below 1"));
}

}  // namespace
}  // namespace sotto
