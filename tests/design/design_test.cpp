#include "sotto/design/design.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "design/noise_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/graph/mixing_schedule.hpp"

namespace sotto {
namespace {

TEST(TemporalShape, IsReadAsItIsNamed) {
    for (const char* text : {"dense", "banded:7", "banded:0", "one-lag"})
        EXPECT_EQ(name_of(parse_temporal("--temporal", text)), text);
    for (const char* text : {"", "band:3", "banded:", "banded:-1", "one"})
        EXPECT_THROW((void)parse_temporal("--temporal", text), ConfigError) << text;
}

TEST(ModelAverage, IsReadAndWritten) {
    for (const char* text : {"none", "tail:0.5", "tail:1", "ema:0.99", "ema:0"})
        EXPECT_EQ(name_of(parse_average("average", text)), text);
    for (const char* text : {"tail:0", "tail:1.5", "tail:nan", "ema:1", "ema:-0.1", "tails:1", ""})
        EXPECT_THROW((void)parse_average("average", text), ConfigError) << text;
}

TEST(ModelAverage, OfATailCountsAtLeastOneRoundAndAtMostAll) {
    const ModelAverage half{ModelAverage::Kind::tail, 0.5};
    EXPECT_EQ(half.tail_rounds(1), 1);
    EXPECT_EQ(half.tail_rounds(7), 4);
    EXPECT_EQ((ModelAverage{ModelAverage::Kind::tail, 1}).tail_rounds(7), 7);
}

TEST(Smoothing, IsNoneUnlessSomethingIsDone) {
    Smoothing smoothing;
    EXPECT_TRUE(smoothing.none());
    smoothing.set_average({ModelAverage::Kind::tail, 0.5}, 2);
    EXPECT_TRUE(smoothing.none()) << "the mean of one model is that model";
    smoothing.set_average({ModelAverage::Kind::tail, 0.5}, 4);
    EXPECT_TRUE(smoothing.averages());
    smoothing.set_average({}, 4);
    EXPECT_TRUE(smoothing.none());
    smoothing.set_average({ModelAverage::Kind::exponential, 0.9}, 4);
    EXPECT_TRUE(smoothing.averages());
    smoothing = {};
    smoothing.final_gossip = 2;
    EXPECT_FALSE(smoothing.none());
}

using namespace test;

constexpr Utility::Kind all_kinds[] = {Utility::Kind::one_step,
                                       Utility::Kind::horizon,
                                       Utility::Kind::trajectory,
                                       Utility::Kind::final_model};

/// sum_k w_k (W^(Kk))^T W^(Kk), one power after the other.
Eigen::MatrixXd direct_sum(const MixingMatrix& mixing,
                           const Utility& utility,
                           long rounds,
                           int gossip_steps) {
    const Eigen::MatrixXd w = mixing.dense();
    const bool one = utility.kind == Utility::Kind::one_step;
    const long length = one ? 1 : utility.kind == Utility::Kind::horizon ? utility.horizon : rounds;
    Eigen::MatrixXd power = Eigen::MatrixXd::Identity(w.rows(), w.rows());
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(w.rows(), w.rows());
    for (long k = 1; k <= length; ++k) {
        for (int step = 0; step < gossip_steps; ++step) power = (power * w).eval();
        const double weight =
            utility.kind == Utility::Kind::trajectory ? static_cast<double>(rounds - k + 1) : 1.0;
        sum += weight * power.transpose() * power;
    }
    return sum;
}

void expect_direct_sum(const MixingMatrix& mixing) {
    for (const Utility::Kind kind : all_kinds)
        for (const long length : {1L, 2L, 3L, 7L, 8L, 25L, 64L})
            for (const int gossip_steps : {1, 2, 3}) {
                const Utility utility{kind, length};
                const Eigen::MatrixXd found = utility_matrix(mixing, utility, length, gossip_steps);
                const Eigen::MatrixXd expected = direct_sum(mixing, utility, length, gossip_steps);
                EXPECT_LE((found - expected).norm(), 1e-12 * expected.norm())
                    << name_of(utility) << ", T " << length << ", K " << gossip_steps;
                EXPECT_EQ(found, found.transpose());
            }
}

TEST(UtilityMatrix, IsTheSumOfPowersOfASymmetricMixing) {
    for (const auto& [name, graph] : sample_graphs({1, 2, 6, 11})) {
        SCOPED_TRACE(name);
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
        ASSERT_TRUE(mixing.symmetric());
        expect_direct_sum(mixing);
    }
    expect_direct_sum(MixingMatrix::average(5));
}

TEST(UtilityMatrix, IsTheSumOfPowersOfARowStochasticMixing) {
    bool any_asymmetric = false;
    for (const auto& [name, graph] : sample_graphs({2, 6, 11})) {
        SCOPED_TRACE(name);
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::row_stochastic);
        any_asymmetric = any_asymmetric || !mixing.symmetric();
        expect_direct_sum(mixing);
    }
    EXPECT_TRUE(any_asymmetric);
}

TEST(UtilityMatrix, IsPositiveSemidefinite) {
    for (const auto& [name, graph] : sample_graphs({8}))
        for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic}) {
            const Eigen::MatrixXd utility = horizon_utility(graph, 20, rule);
            const Eigen::VectorXd values =
                Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(utility).eigenvalues();
            EXPECT_GE(values(0), -1e-13 * values(7)) << name;
        }
}

TEST(UtilityMatrix, OfAveragingIsTheHorizonOverTheNumberOfAgents) {
    const Eigen::MatrixXd found =
        utility_matrix(MixingMatrix::average(4), {Utility::Kind::horizon, 50}, 1000);
    EXPECT_LE((found - Eigen::MatrixXd::Constant(4, 4, 50.0 / 4)).norm(), 1e-12);
}

TEST(UtilityMatrix, OfAVeryLongHorizonKeepsItsSlowestPart) {
    // W^k tends to 11^T/n: each further power adds 1/n.
    const Graph graph = make_graph(Topology::ring, 5);
    const Eigen::MatrixXd growth = horizon_utility(graph, 3000) - horizon_utility(graph, 2000);
    // Relative to M itself, whose entries are near 600.
    EXPECT_LE((growth - Eigen::MatrixXd::Constant(5, 5, 200)).norm(), 1e-11 * 600 * 5);
}

TEST(ParseUtility, GoesBackAndForth) {
    for (const char* text : {"one-step", "horizon:1", "horizon:200", "trajectory", "final"})
        EXPECT_EQ(name_of(parse_utility("objective", text)), text);
    EXPECT_EQ(parse_utility("objective", "horizon:50").horizon, 50);
}

TEST(ParseUtility, RefusesWhatIsNotAnObjective) {
    for (const char* text :
         {"", "horizon", "horizon:", "horizon:0", "horizon:-3", "horizon:1.5", "horizon:x", "two"})
        EXPECT_TRUE(contains(
            message_of<ConfigError>([&] { (void)parse_utility("objective", text); }), "objective"))
            << text;
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { (void)parse_utility("objective", "trajectroy"); }),
                 "did you mean 'trajectory'?"));
}

TEST(UtilityOfASchedule, IsTheMeanOverItsRoundsOfProductsOfMixing) {
    // By its definition, with nothing but loops.
    const Graph graph = make_graph(Topology::exponential, 6);
    const MixingSchedule schedule(one_peer_schedule(graph));
    ASSERT_EQ(schedule.period(), 3);
    for (const Utility& utility : {Utility{Utility::Kind::one_step, 1},
                                   Utility{Utility::Kind::horizon, 5},
                                   Utility{Utility::Kind::trajectory, 0},
                                   Utility{Utility::Kind::final_model, 0}})
        for (const int gossip_steps : {1, 2}) {
            constexpr long rounds = 4;
            const long length = utility.kind == Utility::Kind::one_step  ? 1
                                : utility.kind == Utility::Kind::horizon ? 5
                                                                         : rounds;
            Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(6, 6);
            for (long start = 0; start < 3; ++start) {
                Eigen::MatrixXd product = Eigen::MatrixXd::Identity(6, 6);
                for (long k = 1; k <= length; ++k) {
                    for (int step = 0; step < gossip_steps; ++step)
                        product = (schedule.at(start + k - 1).dense() * product).eval();
                    const double weight = utility.kind == Utility::Kind::trajectory
                                              ? static_cast<double>(rounds - k + 1)
                                              : 1.0;
                    expected += weight * product.transpose() * product / 3;
                }
            }
            EXPECT_TRUE(
                utility_matrix(schedule, utility, rounds, gossip_steps).isApprox(expected, 1e-13))
                << name_of(utility);
        }
}

TEST(UtilityMatrix, OfCorrectionsIsTheNoiseThatTheirRecursionsLeave) {
    // Unit noise of one agent in one round, and nothing else, with everybody's models as rows.
    const Graph graph = make_graph(Topology::path, 5);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    for (const Correction correction : {Correction::exact_diffusion, Correction::tracking})
        for (const GossipPolynomial& gossip :
             {GossipPolynomial(1), GossipPolynomial(2).with_laziness(0.2)}) {
            const Eigen::MatrixXd p = gossip.of(mixing.dense());
            Eigen::MatrixXd x = Eigen::MatrixXd::Zero(5, 5), before = x, y = x, sum = x;
            const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(5, 5);
            for (int k = 0; k < 12; ++k) {
                const Eigen::MatrixXd fresh = (k == 0 ? 1.0 : k == 1 ? -1.0 : 0.0) * one;
                if (correction == Correction::tracking) {
                    y = (p * (y + fresh)).eval();
                    x = (p * (x + y)).eval();
                } else {
                    const Eigen::MatrixXd next = p * (2 * x - before + fresh);
                    before = x;
                    x = next;
                }
                sum += x.transpose() * x;
            }
            const Smoothing smoothing{.correction = correction};
            const Utility horizon{Utility::Kind::horizon, 12};
            EXPECT_TRUE(utility_matrix(mixing, horizon, 1, gossip, smoothing).isApprox(sum, 1e-12))
                << name_of(correction);
        }
}

TEST(UtilityOfASchedule, WithTrackingIsThatOfItsRecursion) {
    const Graph graph = make_graph(Topology::exponential, 6);
    const MixingSchedule schedule(one_peer_schedule(graph));
    constexpr long rounds = 5;
    for (const int gossip_steps : {1, 2}) {
        Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(6, 6);
        for (long start = 0; start < 3; ++start) {
            Eigen::MatrixXd x = Eigen::MatrixXd::Zero(6, 6), y = x;
            for (long k = 1; k <= rounds; ++k) {
                Eigen::MatrixXd w = Eigen::MatrixXd::Identity(6, 6);
                for (int step = 0; step < gossip_steps; ++step)
                    w = (schedule.at(start + k - 1).dense() * w).eval();
                const double fresh = k == 1 ? 1 : k == 2 ? -1 : 0;
                y = (w * (y + fresh * Eigen::MatrixXd::Identity(6, 6))).eval();
                x = (w * (x + y)).eval();
                expected += static_cast<double>(rounds + 1 - k) * x.transpose() * x / 3;
            }
        }
        const Utility trajectory{Utility::Kind::trajectory, 0};
        EXPECT_TRUE(utility_matrix(schedule, trajectory, rounds, gossip_steps, Correction::tracking)
                        .isApprox(expected, 1e-13));
    }
    const MixingMatrix ring =
        MixingMatrix::from_rule(make_graph(Topology::ring, 5), MixingRule::metropolis);
    const Utility horizon{Utility::Kind::horizon, 30};
    for (const MixingSchedule& fixed : {MixingSchedule({ring}), MixingSchedule({ring, ring})})
        EXPECT_TRUE(utility_matrix(fixed, horizon, 50, 1, Correction::tracking)
                        .isApprox(utility_matrix(
                                      ring, horizon, 50, 1, {.correction = Correction::tracking}),
                                  1e-12));
}

TEST(UtilityOfASchedule, OfOneMatrixIsThatOfFixedMixing) {
    const Graph graph = make_graph(Topology::ring, 5);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    const Utility utility{Utility::Kind::horizon, 30};
    EXPECT_TRUE(utility_matrix(MixingSchedule({mixing, mixing}), utility, 50, 1)
                    .isApprox(utility_matrix(mixing, utility, 50, 1), 1e-12));
}

/// sum_k w_k (P^k)^T D^-2 P^k, with P^k one after the other.
Eigen::MatrixXd utility_of_estimates(const MixingMatrix& mixing, long length) {
    const Eigen::MatrixXd dense = mixing.dense();
    Eigen::MatrixXd power = Eigen::MatrixXd::Identity(dense.rows(), dense.cols());
    Eigen::MatrixXd sum = 0 * power;
    for (long k = 1; k <= length; ++k) {
        power = dense * power;
        const Eigen::MatrixXd estimates = estimate_factors(mixing).asDiagonal() * power;
        sum += estimates.transpose() * estimates;
    }
    return sum;
}

TEST(UtilityMatrix, OfPushSumIsOfModelsDividedByTheirWeights) {
    const Graph graph = Graph::from_arcs(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}});
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::push_sum);
    for (const long horizon : {1L, 2L, 7L, 50L}) {
        const Eigen::MatrixXd found = utility_matrix(mixing, {Utility::Kind::horizon, horizon}, 90);
        EXPECT_LT((found - utility_of_estimates(mixing, horizon)).cwiseAbs().maxCoeff(), 1e-10);
    }
    // A mean of models, and final gossip.
    Smoothing smoothing;
    smoothing.momentum = 0.5;
    smoothing.final_gossip = GossipPolynomial(3);
    const Eigen::MatrixXd smooth =
        utility_matrix(mixing, {Utility::Kind::final_model, 0}, 1, 1, smoothing);
    const Eigen::MatrixXd step = mixing.dense();
    const Eigen::MatrixXd last =
        estimate_factors(mixing).asDiagonal() * (step * step * step * step);
    EXPECT_LT((smooth - last.transpose() * last).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(UtilityMatrix, OfChangingPushSumHasTheWeightsOfItsRounds) {
    const Graph graph = Graph::from_arcs(3, {{0, 1}, {1, 2}, {2, 0}, {0, 2}});
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::push_sum);
    const Eigen::MatrixXd step = mixing.dense();
    // Two rounds, each a start: w after round 0 is A 1, after round 1 A A 1, after round 2 A^3 1.
    const auto divided = [&](const Eigen::MatrixXd& power, int round) {
        Eigen::VectorXd w = Eigen::VectorXd::Ones(3);
        for (int t = 0; t <= round; ++t) w = step * w;
        return Eigen::MatrixXd(w.cwiseInverse().asDiagonal() * power);
    };
    Eigen::MatrixXd wanted = Eigen::MatrixXd::Zero(3, 3);
    for (const int start : {0, 1}) {
        const Eigen::MatrixXd one = divided(step, start), two = divided(step * step, start + 1);
        wanted += 0.5 * (one.transpose() * one + two.transpose() * two);
    }
    const Eigen::MatrixXd found =
        utility_matrix(MixingSchedule({mixing, mixing}), {Utility::Kind::horizon, 2}, 10);
    EXPECT_LT((found - wanted).cwiseAbs().maxCoeff(), 1e-12);
}

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
