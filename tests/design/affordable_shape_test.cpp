#include "sotto/design/affordable_shape.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/design/shaped_factor.hpp"

namespace sotto {
namespace {

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
