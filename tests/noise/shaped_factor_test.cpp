// Temporal factors of few lags, against dense matrices.

#include <gtest/gtest.h>

#include <cmath>

#include "core/test_support.hpp"
#include "noise/noise_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/seeded_random.hpp"
#include "sotto/graph/topology.hpp"
#include "sotto/noise/mechanism.hpp"
#include "sotto/noise/temporal_solver.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::contains;
using test::make_graph;
using test::message_of;
using test::relatively_near;

constexpr int agents = 6;

MixingMatrix mixing_of(MixingRule rule, std::uint64_t seed = 2) {
    return MixingMatrix::from_rule(make_graph(Topology::erdos_renyi, agents, seed, 0.5), rule);
}
std::vector<double> falling_steps(Index rounds) {
    std::vector<double> steps;
    for (Index t = 0; t < rounds; ++t)
        steps.push_back(1 / std::sqrt(1 + 0.1 * static_cast<double>(t)));
    return steps;
}
ShapedFactor shaped(const MixingMatrix& mixing,
                    Index rounds,
                    long cycle,
                    const TemporalShape& shape) {
    return solve_shaped_factor(
        mixing, MatrixXd::Identity(agents, agents), falling_steps(rounds), 1, cycle, shape);
}
TemporalShape banded(long band, long restart = 0) {
    return {TemporalShape::Kind::banded, band, restart};
}
constexpr TemporalShape dense{};
constexpr TemporalShape one_lag{TemporalShape::Kind::one_lag, 0, 0};

MatrixXd gram_of(const TemporalFactor& factor, long rounds) {
    const MatrixXd lower = dense_factor(factor, rounds);
    return lower.transpose() * lower;
}
/// max over patterns of sum |X_st|, by the definition.
double brute_force_sensitivity(const MatrixXd& gram, long cycle) {
    double largest = 0;
    for (long j = 0; j < cycle; ++j) {
        double sum = 0;
        for (Index s = j; s < gram.rows(); s += cycle)
            for (Index t = j; t < gram.rows(); t += cycle) sum += std::abs(gram(s, t));
        largest = std::max(largest, sum);
    }
    return largest;
}
/// Tr(H X^-1) sens2 / ceil(T/b), by dense matrices.
double cost_of(const MixingMatrix& mixing, const TemporalFactor& factor, Index rounds, long cycle) {
    const MatrixXd h =
        temporal_utility(mixing, MatrixXd::Identity(agents, agents), falling_steps(rounds));
    const MatrixXd gram = gram_of(factor, rounds);
    return (h * gram.inverse()).trace() * brute_force_sensitivity(gram, cycle) /
           std::ceil(static_cast<double>(rounds) / static_cast<double>(cycle));
}

TEST(TemporalShape, IsReadAsItIsNamed) {
    for (const char* text : {"dense", "banded:7", "one-lag"})
        EXPECT_EQ(name_of(parse_temporal("--temporal", text)), text);
    for (const char* text : {"", "band:3", "banded:", "banded:0", "banded:-1", "one"})
        EXPECT_THROW((void)parse_temporal("--temporal", text), ConfigError) << text;
}

TEST(BandedFactor, WithAllSubdiagonalsIsTheDenseOne) {
    for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic})
        for (const long cycle : {3L, 7L, 40L}) {
            const MixingMatrix mixing = mixing_of(rule);
            const double wanted = shaped(mixing, 24, cycle, dense).value;
            const ShapedFactor all = shaped(mixing, 24, cycle, banded(23));
            EXPECT_TRUE(relatively_near(all.value, wanted, 1e-4)) << "cycle " << cycle;
            EXPECT_EQ(all.factor.kind, TemporalFactor::Kind::banded);
            EXPECT_EQ(all.factor.lower.cols(), 24);
        }
}

TEST(BandedFactor, LeavesLessTheWiderItIsWithinItsCertificate) {
    for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic}) {
        const MixingMatrix mixing = mixing_of(rule);
        double before = INFINITY;
        for (const long band : {1L, 2L, 4L, 5L, 9L, 16L, 23L}) {
            SCOPED_TRACE(testing::Message() << "band " << band);
            const ShapedFactor found = shaped(mixing, 24, 5, banded(band));
            EXPECT_LT(found.value, before * (band == 5 ? 1 + 1e-9 : 1));  // 5: one pattern
            EXPECT_LE(found.lower_bound, found.value * (1 + 1e-12));
            EXPECT_GE(found.lower_bound, found.value * (1 - 1e-5));
            EXPECT_TRUE(relatively_near(cost_of(mixing, found.factor, 24, 5), found.value, 1e-9));
            before = found.value;
        }
    }
}

TEST(ShapedFactor, CostsOneParticipationARoundWhateverBandAndRestart) {
    const MixingMatrix mixing = mixing_of(MixingRule::metropolis);
    for (const TemporalShape& shape :
         {dense, banded(3), banded(9), banded(3, 7), TemporalShape{dense.kind, 0, 10}}) {
        SCOPED_TRACE(name_of(shape));
        const TemporalFactor factor = shaped(mixing, 26, 5, shape).factor;
        const MatrixXd gram = gram_of(factor, 26);
        EXPECT_NEAR(brute_force_sensitivity(gram, 5), 6, 1e-9);
        EXPECT_NEAR(temporal_sensitivity_squared(factor, {5}, 26), 6, 1e-9);
        EXPECT_TRUE(round_precisions(factor, 26).isApprox(VectorXd(gram.diagonal()), 1e-12));
        // Rounds of different blocks share no noise.
        if (shape.restart == 0) continue;
        const MatrixXd lower = dense_factor(factor, 26);
        for (Index t = 0; t < 26; ++t)
            for (Index s = 0; s < t; ++s) {
                if (s / shape.restart == t / shape.restart) continue;
                EXPECT_EQ(lower(t, s), 0);
            }
    }
}

TEST(ShapedFactor, BegunAnewLosesLessTheLongerItsBlocks) {
    const MixingMatrix mixing = mixing_of(MixingRule::metropolis);
    double before = INFINITY;
    for (const long restart : {1L, 3L, 6L, 12L, 24L}) {
        const double value = shaped(mixing, 24, 5, {dense.kind, 0, restart}).value;
        EXPECT_LT(value, before) << restart;
        before = value;
    }
    EXPECT_TRUE(relatively_near(before, shaped(mixing, 24, 5, dense).value, 1e-6));
}

TEST(OneLagFactor, HasTheBestNumberAtItsOwnSensitivity) {
    for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic})
        for (const long restart : {0L, 8L}) {
            const MixingMatrix mixing = mixing_of(rule);
            const ShapedFactor found =
                shaped(mixing, 30, 6, {TemporalShape::Kind::one_lag, 0, restart});
            EXPECT_TRUE(relatively_near(cost_of(mixing, found.factor, 30, 6), found.value, 1e-10));
            EXPECT_GT(-found.factor.lower(1, 1), 0.1);
            for (double rho = 0; rho <= 1; rho += 1.0 / 64) {
                TemporalFactor other = found.factor;
                for (Index t = 0; t < 30; ++t)
                    if (other.lower(t, 1) != 0) other.lower(t, 1) = -rho;
                EXPECT_GE(cost_of(mixing, other, 30, 6), found.value * (1 - 1e-9)) << rho;
            }
        }
}

TEST(ModeGains, AreTheUtilityOfTheFactorRoundByRound) {
    const MixingMatrix mixing = mixing_of(MixingRule::metropolis);
    const auto steps = falling_steps(15);
    SeededRandom random(3, "factor");
    MatrixXd band(15, 4), lagged(15, 2);
    for (Index t = 0; t < 15; ++t) {
        band.row(t) << 1 + random.uniform(), random.normal(), random.normal(), random.normal();
        lagged.row(t) << 1 + random.uniform(), random.normal();
    }
    for (const TemporalFactor& factor : {TemporalFactor{},
                                         TemporalFactor{TemporalFactor::Kind::banded, band},
                                         TemporalFactor{TemporalFactor::Kind::one_lag, lagged}})
        for (const int gossip : {1, 2}) {
            const MatrixXd inverse = factor.kind == TemporalFactor::Kind::identity
                                         ? MatrixXd(MatrixXd::Identity(15, 15))
                                         : MatrixXd(dense_factor(factor, 15).inverse());
            const MatrixXd wanted =
                spatial_utility(mixing, inverse * inverse.transpose(), steps, gossip);
            const MatrixXd found = spatial_utility(mixing, factor, steps, gossip);
            EXPECT_LT((found - wanted).norm(), 1e-11 * wanted.norm());
        }
}

TEST(BandedFactorOfManyRounds, IsAsGoodAsTheCertifiedOneOfFew) {
    for (const long restart : {0L, 16L})
        for (const long band : {1L, 3L, 6L}) {
            SCOPED_TRACE(testing::Message() << "band " << band << ", restart " << restart);
            const MixingMatrix mixing = mixing_of(MixingRule::metropolis);
            const ShapedFactor certified = shaped(mixing, 60, 7, banded(band, restart));
            const SymmetricEigen eigen = symmetric_eigen(mixing.dense());
            const LaggedSolution found = solve_banded_factor(
                eigen.values, VectorXd::Ones(agents), falling_steps(60), 7, band, restart);
            EXPECT_TRUE(relatively_near(found.value, cost_of(mixing, found.factor, 60, 7), 1e-9));
            EXPECT_NEAR(temporal_sensitivity_squared(found.factor, {7}, 60), 9, 1e-9);
            EXPECT_GE(found.value, certified.lower_bound);
            EXPECT_LE(found.value, certified.value * 1.001);
        }
    EXPECT_THROW((void)solve_banded_factor(VectorXd::Ones(1), VectorXd::Ones(1), {}, 4, 4),
                 ConfigError);
}

TEST(Mafalda, PlansMoreRoundsThanADenseFactorAllows) {
    const Graph graph = make_graph(Topology::ring, agents);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = 2500;
    input.participation = {10};
    input.kappa = VectorXd::Ones(agents);
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)design_mafalda(input); }), "one-lag"));
    input.temporal = one_lag;
    const Design lagged = design_mafalda(input);
    input.temporal = banded(5);
    const Design wide = design_mafalda(input);
    DesignInput alone = input;
    alone.utility = {Utility::Kind::trajectory, 0};
    const double independent = design_ldp(alone).objective;
    EXPECT_LT(lagged.objective, 0.5 * independent);
    EXPECT_LT(wide.objective, 0.5 * independent);
    EXPECT_EQ(wide.plan.temporal.lower.cols(), 6);
    EXPECT_NEAR(temporal_sensitivity_squared(wide.plan.temporal, {10}, 2500), 250, 1e-6);
    input.temporal = {TemporalShape::Kind::dense, 0, 50};
    const Design restarted = design_mafalda(input);
    EXPECT_LT(restarted.objective, wide.objective);
    EXPECT_GE(restarted.lower_bound, restarted.objective * (1 - 1e-5));
    EXPECT_NEAR(temporal_sensitivity_squared(restarted.plan.temporal, {10}, 2500), 250, 1e-6);
    input.temporal = banded(10);
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)design_mafalda(input); }), "2500"));
}

}  // namespace
}  // namespace sotto
