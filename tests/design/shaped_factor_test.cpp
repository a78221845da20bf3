#include "design/shaped_factor.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "design/temporal_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using namespace test;

TEST(BandedFactor, WithAllSubdiagonalsIsTheDenseOne) {
    for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic})
        for (const long cycle : {3L, 7L, 40L}) {
            const MixingMatrix mixing = mixing_of(rule);
            const double wanted = shaped(mixing, 24, cycle, dense_shape).value;
            const ShapedFactor all = shaped(mixing, 24, cycle, banded_shape(23));
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
            const ShapedFactor found = shaped(mixing, 24, 5, banded_shape(band));
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
    for (const TemporalShape& shape : {dense_shape,
                                       banded_shape(3),
                                       banded_shape(9),
                                       banded_shape(3, 7),
                                       TemporalShape{dense_shape.kind, 0, 10}}) {
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
        const double value = shaped(mixing, 24, 5, {dense_shape.kind, 0, restart}).value;
        EXPECT_LT(value, before) << restart;
        before = value;
    }
    EXPECT_TRUE(relatively_near(before, shaped(mixing, 24, 5, dense_shape).value, 1e-6));
}

TEST(ShapedFactor, OfNoBandIsThatOfIndependentRounds) {
    const MixingMatrix mixing =
        MixingMatrix::from_rule(test::make_graph(Topology::ring, 6), MixingRule::metropolis);
    const Eigen::MatrixXd covariance = Eigen::MatrixXd::Identity(6, 6);
    const std::vector<double> steps{1, 0.5, 0.7, 0.2};
    const ShapedFactor found =
        solve_shaped_factor(mixing, covariance, steps, 1, 1, {TemporalShape::Kind::banded, 0, 0});
    EXPECT_EQ(found.factor.kind, TemporalFactor::Kind::identity);
    const double expected = temporal_utility(mixing, covariance, steps, 1).trace();
    EXPECT_NEAR(found.value, expected, 1e-12 * expected);
    EXPECT_EQ(found.lower_bound, found.value);
}

using namespace test;
using Kind = TemporalShape::Kind;

/// `cycle` of all rounds; the matrix of `setting` must stay.
DesignInput open_rounds(const Setting& setting, long rounds, long cycle) {
    DesignInput input = setting.input(10);
    input.rounds = rounds;
    input.participation = {cycle};
    return input;
}

double solved(const DesignInput& input, const TemporalShape& shape) {
    const auto agents = static_cast<Eigen::Index>(input.mixing->agents());
    return solve_shaped_factor(*input.mixing,
                               Eigen::MatrixXd::Identity(agents, agents),
                               design_steps(input),
                               input.gossip,
                               input.participation.cycle,
                               shape)
        .value;
}

TEST(AffordableShape, CountsMemoryOfAllAgentsAndReadsPerDrawAndGradient) {
    // 2 GiB hold 2^28 values.
    const PastRounds small = affordable_past({.agents = 4, .dimension = 1 << 10, .batch = 0});
    EXPECT_EQ(small.kept, 1 << 16);
    EXPECT_EQ(small.read, 128);  // 1 MiB
    const PastRounds usual = affordable_past({.agents = 20, .dimension = 101770, .batch = 64});
    EXPECT_EQ(usual.kept, (1L << 28) / 20 / 101770);
    EXPECT_EQ(usual.read, 72);
    const PastRounds large = affordable_past({.agents = 1000, .dimension = 10'000'000, .batch = 1});
    EXPECT_EQ(large.kept, 1);
    EXPECT_EQ(large.read, 9);
}

TEST(AffordableShape, IsDenseWhereAllRoundsCanBeKeptAndHalfOfThemRead) {
    const Setting setting = settings({5}).front();
    DesignInput input = open_rounds(setting, 145, 10);
    const RoundWork work{.agents = 20, .dimension = 60'000, .batch = 64};
    EXPECT_TRUE(affordable_shape(input, work).keeps_all());
    EXPECT_EQ(affordable_shape(input, work).best().kind, Kind::dense);
    input.rounds = 146;  // 145 earlier ones, of which 72.5 are read on average
    EXPECT_FALSE(affordable_shape(input, work).keeps_all());
    EXPECT_TRUE(affordable_shape(input, {20, 60'000, 65}).keeps_all());
    EXPECT_FALSE(affordable_shape(input, {40, 60'000, 65}).keeps_all()) << "2 GiB do not hold it";
    input.temporal.restart = 50;
    EXPECT_EQ(affordable_shape(input, work).best(), (TemporalShape{Kind::dense, 0, 50}));
}

TEST(AffordableShape, HasNothingToChooseWhereNoTwoRoundsMayShareNoise) {
    const Setting setting = settings({5}).front();
    EXPECT_TRUE(affordable_shape(open_rounds(setting, 40, 1), {}).candidates.empty());
    EXPECT_TRUE(affordable_shape(open_rounds(setting, 1, 4), {}).candidates.empty());
    EXPECT_TRUE(affordable_shape(open_rounds(setting, 40, 1), {}).keeps_all());
}

TEST(AffordableShape, TakesTheBandOrOneLagWhicheverLeavesLess) {
    bool band_won = false, lag_won = false;
    for (const Setting& setting : settings({5, 8}))
        for (const long batch : {0L, 12L}) {
            const DesignInput input = open_rounds(setting, 120, 30);
            const ShapeChoice choice =
                affordable_shape(input, {.agents = 20, .dimension = 1'000'000, .batch = batch});
            const long band = 8 + batch > 13 ? 13 : 8 + batch;  // 13 rounds in 2 GiB
            const TemporalShape banded{Kind::banded, band, 0}, lag{Kind::one_lag, 0, 0};
            ASSERT_EQ(choice.candidates.size(), 2U);
            EXPECT_EQ(choice.candidates[0].shape, banded);
            EXPECT_EQ(choice.candidates[1].shape, lag);
            const double with_band = solved(input, banded), with_lag = solved(input, lag);
            EXPECT_NEAR(choice.candidates[0].noise, with_band, 0.01 * with_band);
            EXPECT_NEAR(choice.candidates[1].noise, with_lag, 1e-9 * with_lag);
            EXPECT_EQ(choice.best(), with_band < with_lag ? banded : lag);
            (with_band < with_lag ? band_won : lag_won) = true;
            EXPECT_TRUE(contains(text_of(choice), "dense noise would keep 119 rounds"));
        }
    EXPECT_TRUE(band_won);
    EXPECT_TRUE(lag_won);
}

TEST(AffordableShape, JudgesWideBandsByWhatIsBelowTheCycle) {
    const Setting setting = settings({5}).front();
    const DesignInput input = open_rounds(setting, 60, 3);
    const ShapeChoice choice = affordable_shape(input, {20, 1'000'000, 4});
    EXPECT_EQ(choice.best(), (TemporalShape{Kind::banded, 12, 0}));
    const double below = solved(input, {Kind::banded, 2, 0});
    EXPECT_NEAR(choice.candidates[0].noise, below, 0.01 * below);
    EXPECT_LT(solved(input, choice.best()), below);
    EXPECT_LT(below, solved(input, {Kind::one_lag, 0, 0}));
}

TEST(AffordableShape, KeepsSampledRoundsApart) {
    const Setting setting = settings({5}).front();
    DesignInput input = open_rounds(setting, 40, 6);
    input.participation.poisson = true;
    EXPECT_EQ(affordable_shape(input, {}).best(), (TemporalShape{Kind::banded, 5, 0}));
    EXPECT_EQ(affordable_shape(input, {8, 20'000'000, 0}).best(),
              (TemporalShape{Kind::banded, 1, 0}));
    input.temporal.restart = 6;
    EXPECT_EQ(affordable_shape(input, {}).best(), (TemporalShape{Kind::dense, 0, 6}));
}

TEST(AffordableShape, PlansLongRunsInBandsBelowTheCycle) {
    for (const Setting& setting : settings({5})) {
        if (!setting.mixing.symmetric()) continue;
        const DesignInput input = open_rounds(setting, 2500, 6);
        const ShapeChoice choice = affordable_shape(input, {});
        ASSERT_EQ(choice.candidates.size(), 2U);
        EXPECT_EQ(choice.candidates[0].shape, (TemporalShape{Kind::banded, 5, 0}));
    }
}

}  // namespace
}  // namespace sotto
