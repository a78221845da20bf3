#include "privacy/sampled_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "privacy/round_losses.hpp"
#include "privacy/sampled_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {
namespace {

Certified epsilon_of(std::vector<SampledRounds> rounds, double delta, ExactParts parts = {}) {
    return sampled_epsilon(rounds, parts, delta);
}

void expect_between(const Certified& found, double exact, double gap = 1e-3) {
    EXPECT_GE(found.upper, exact * (1 - 1e-9));
    EXPECT_LE(found.lower, exact * (1 + 1e-9));
    EXPECT_LE(found.upper - found.lower, gap * found.upper);
}

TEST(SampledCurve, OfOneRoundIsTheIntegralThatDefinesIt) {
    for (const double noise : {0.5, 1.0, 4.0})
        for (const double probability : {0.01, 0.3, 0.95})
            for (const double epsilon : {0.0, 0.02, 0.4}) {
                const double exact = delta_of_one_round(noise, probability, epsilon);
                if (exact < 1e-14) continue;
                const SampledRounds rounds{noise, probability, 1};
                const Certified delta = sampled_delta({&rounds, 1}, {}, epsilon);
                EXPECT_GE(delta.upper, exact * (1 - 1e-7)) << noise << probability << epsilon;
                EXPECT_LE(delta.lower, exact * (1 + 1e-7)) << noise << probability << epsilon;
                EXPECT_LE(delta.upper - delta.lower, 1e-3 * exact);
            }
}

TEST(SampledCurve, AlmostAlwaysThereIsTheGaussianCurve) {
    for (const long count : {1L, 30L, 900L}) {
        const double noise = 3 * std::sqrt(static_cast<double>(count));
        const double exact = gdp_epsilon(1 / 3.0, 1e-6);
        const Certified found = epsilon_of({{noise, 1 - 1e-12, count}}, 1e-6);
        EXPECT_NEAR(found.upper, exact, 1e-3 * exact);
        EXPECT_LE(found.lower, exact * (1 + 1e-6));
    }
}

TEST(SampledCurve, HasEpsilonAndDeltaThatAreInverse) {
    const std::vector<SampledRounds> rounds{{1, 0.05, 200}, {2, 0.1, 50}};
    for (const double delta : {1e-2, 1e-5, 1e-9, 1e-15}) {
        const Certified epsilon = epsilon_of(rounds, delta);
        EXPECT_LE(sampled_delta(rounds, {}, epsilon.upper).lower, delta);
        EXPECT_GE(sampled_delta(rounds, {}, epsilon.lower).upper, delta);
        EXPECT_NEAR(sampled_delta(rounds, {}, epsilon.upper).upper, delta, 0.02 * delta);
    }
}

TEST(SampledCurve, GrowsWithEverythingThatRevealsMore) {
    const double middle = epsilon_of({{1.1, 0.02, 300}}, 1e-5).lower;
    EXPECT_GT(middle, epsilon_of({{1.15, 0.02, 300}}, 1e-5).upper);
    EXPECT_GT(middle, epsilon_of({{1.1, 0.019, 300}}, 1e-5).upper);
    EXPECT_GT(middle, epsilon_of({{1.1, 0.02, 280}}, 1e-5).upper);
    EXPECT_GT(middle, epsilon_of({{1.1, 0.02, 300}}, 2e-5).upper);
    EXPECT_LT(middle, epsilon_of({{1.1, 0.02, 300}}, 1e-5, {0.01, 0}).lower);
    EXPECT_LT(middle, epsilon_of({{1.1, 0.02, 300}}, 1e-5, {0, 0.1}).lower);
}

TEST(SampledCurve, GoesToNothingWithTheProbability) {
    double before = 10;
    for (const double probability : {1e-2, 1e-4, 1e-6}) {
        const Certified found = epsilon_of({{1.5, probability, 100}}, 1e-6);
        EXPECT_LT(found.upper, 0.2 * before);
        EXPECT_LE(found.upper - found.lower, 1e-3 * found.upper);
        before = found.upper;
    }
    EXPECT_EQ(epsilon_of({{1.5, 1e-9, 100}}, 1e-6).upper, 0);
}

TEST(SampledCurve, DoesNotDependOnHowRoundsAreGrouped) {
    const Certified one = epsilon_of({{1, 0.01, 400}, {2, 0.05, 200}}, 1e-5);
    const Certified split =
        epsilon_of({{1, 0.01, 100}, {1.0000000001, 0.01, 300}, {2, 0.05, 200}}, 1e-5);
    EXPECT_LE(std::max(one.lower, split.lower), std::min(one.upper, split.upper) * (1 + 1e-8));
    EXPECT_NEAR(one.upper, split.upper, 1e-3 * one.upper);
}

TEST(SampledCurve, HasGaussianPartsThatAreRoundsWhichAreAlwaysThere) {
    // Rounds with q = 1 as sampled ones with q next to 1, and as an exact part.
    const Certified exact = epsilon_of({{2, 0.1, 50}}, 1e-5, {0.16, 0});
    const Certified sampled = epsilon_of({{2, 0.1, 50}, {10, 1 - 1e-12, 16}}, 1e-5);
    EXPECT_LE(std::max(exact.lower, sampled.lower), std::min(exact.upper, sampled.upper));
    // Almost nothing beside them changes nothing.
    expect_between(epsilon_of({{100, 1e-6, 1}}, 1e-5, {1, 0}), gdp_epsilon(1, 1e-5));
}

TEST(SampledCurve, HasPurePartsThatShiftIt) {
    // With probability p the whole curve stands E further right, otherwise further left.
    const std::vector<SampledRounds> rounds{{1, 0.1, 20}};
    const double pure = 0.8, p = 1 / (1 + std::exp(-pure)), epsilon = 2;
    const Certified right = sampled_delta(rounds, {}, epsilon - pure);
    const Certified left = sampled_delta(rounds, {}, epsilon + pure);
    const Certified both = sampled_delta(rounds, {0, pure}, epsilon);
    EXPECT_LE(both.lower, p * right.upper + (1 - p) * left.upper);
    EXPECT_GE(both.upper, p * right.lower + (1 - p) * left.lower);
    EXPECT_LE(both.upper - both.lower, 1e-3 * both.upper);
}

/// What an independent program found, and simulations of many rounds.
TEST(SampledCurve, HoldsWhereTheRecordShowsByItself) {
    for (const auto& [noise, probability, count, truth] : {std::tuple{0.04, 0.003, 100L, 1506.4},
                                                           std::tuple{0.06, 0.01, 30L, 634.66},
                                                           std::tuple{0.07, 0.01, 100L, 742.08},
                                                           std::tuple{0.01, 0.01, 100L, 35470.0},
                                                           std::tuple{0.5, 1e-4, 1000L, 0.5421},
                                                           std::tuple{0.4, 1e-4, 100L, 1.3097}}) {
        const Certified found = epsilon_of({{noise, probability, count}}, 1e-5);
        EXPECT_NEAR(found.upper, truth, 1e-3 * truth) << noise;
        EXPECT_LE(found.lower, found.upper);
        EXPECT_GE(found.lower, 0.999 * found.upper) << noise;
    }
}

TEST(SampledCurve, NeverHasALowerBoundAboveTheUpperOneNorATestThatBeatsIt) {
    std::mt19937 random(20);
    const auto drawn = [&](double low, double high) {
        return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random));
    };
    for (int i = 0; i < 60; ++i) {
        const SampledRounds rounds{
            drawn(0.01, 1e3), std::min(drawn(1e-9, 1), 1 - 1e-9), static_cast<long>(drawn(1, 1e7))};
        const double delta = drawn(1e-30, 0.5);
        const Certified found = sampled_epsilon({&rounds, 1}, {}, delta);
        const Certified quick = sampled_epsilon_bracket({&rounds, 1}, {}, delta);
        EXPECT_LE(found.lower, found.upper) << i;
        EXPECT_TRUE(std::isfinite(found.upper)) << i;
        EXPECT_LE(found.upper, quick.upper * (1 + 1e-9)) << i;
        EXPECT_GE(found.lower, quick.lower * (1 - 1e-6)) << i;
        EXPECT_GE(found.upper, epsilon_of_tests({&rounds, 1}, delta) * (1 - 1e-6)) << i;
    }
}

TEST(SampledCurve, IsNothingWhereDeltaCoversThatTheRecordIsSeen) {
    EXPECT_EQ(epsilon_of({{1, 1e-8, 1000}}, 1e-5).upper, 0);
    EXPECT_EQ(epsilon_of({{1e-3, 1e-8, 1000}}, 1e-5).upper, 0);
    EXPECT_GT(epsilon_of({{1e-3, 2e-8, 1000}}, 1e-5).lower, 1000);
}

TEST(SampledCurve, HasLoudRoundsBesideQuietOnes) {
    const std::vector<SampledRounds> loud{{0.05, 0.01, 30}}, quiet{{1, 0.01, 1000}};
    const Certified both = epsilon_of({loud[0], quiet[0]}, 1e-5);
    EXPECT_GE(both.upper, epsilon_of(loud, 1e-5).lower);
    EXPECT_LE(both.lower, epsilon_of(loud, 5e-6).upper + epsilon_of(quiet, 5e-6).upper);
    EXPECT_LE(both.lower, both.upper);
    EXPECT_GE(both.lower, 0.999 * both.upper);
}

TEST(SampledCurve, HasSmallDeltas) {
    const Certified found = epsilon_of({{1, 0.01, 1000}}, 1e-30);
    EXPECT_NEAR(found.upper, 9.342, 2e-3);
    EXPECT_NEAR(found.lower, 9.342, 4e-3);
}

TEST(SampledCurve, HasLoudRoundsBesideGaussianParts) {
    // Either alone costs less, both together at most the sum of both at half of delta.
    const std::vector<SampledRounds> rounds{{0.05, 0.01, 50}};
    const double alone = epsilon_of(rounds, 1e-5).lower;
    const Certified both = epsilon_of(rounds, 1e-5, {400, 0});
    EXPECT_GT(both.upper, alone);
    EXPECT_GT(both.upper, gdp_epsilon(20, 1e-5));
    EXPECT_LT(both.upper, epsilon_of(rounds, 5e-6).upper + gdp_epsilon(20, 5e-6));
    EXPECT_LE(both.lower, both.upper);
    EXPECT_GE(both.lower, 0.99 * both.upper);
}

TEST(SampledBounds, HoldOneRoundBetweenThem) {
    for (const double noise : {0.1, 0.5, 1.0, 4.0})
        for (const double probability : {1e-4, 0.01, 0.3}) {
            const SampledRounds round{noise, probability, 1};
            EXPECT_GE(delta_of_nothing({&round, 1}, {}),
                      delta_of_one_round(noise, probability, 0) * (1 - 1e-7));
            for (const double epsilon : {0.01, 0.5, 3.0}) {
                const double exact = delta_of_one_round(noise, probability, epsilon);
                EXPECT_LE(delta_of_tests({&round, 1}, epsilon), exact * (1 + 1e-7) + 1e-18);
                if (exact > 1e-12 && exact < 0.9) {
                    EXPECT_LE(epsilon_of_tests({&round, 1}, exact), epsilon * (1 + 1e-6));
                }
            }
        }
}

TEST(SampledBounds, SeeARecordThatShowsByItself) {
    const SampledRounds loud{0.01, 0.01, 100};
    const double seen = 1 - std::pow(0.99, 100);
    EXPECT_NEAR(delta_of_tests({&loud, 1}, 100), seen, 1e-9);
    EXPECT_GT(epsilon_of_tests({&loud, 1}, 0.9 * seen), 4000);
    EXPECT_EQ(epsilon_of_tests({&loud, 1}, 1.01 * seen), 0);
}

TEST(SampledBounds, AreMomentsInClosedFormToo) {
    // Whole tilts are binomial sums; quiet, loud and rare rounds.
    for (const auto& [noise, probability] :
         {std::pair{1.5, 0.2}, std::pair{0.2, 0.01}, std::pair{0.05, 1e-6}, std::pair{30.0, 0.5}})
        for (const int order : {2, 3, 5}) {
            double sum = 0, choose = 1;
            for (int k = 0; k <= order; ++k) {
                sum += choose * std::pow(1 - probability, order - k) * std::pow(probability, k) *
                       std::exp(0.5 * k * (k - 1) / (noise * noise));
                choose *= static_cast<double>(order - k) / (k + 1);
            }
            if (!std::isfinite(sum)) continue;
            const SampledRounds round{noise, probability, 1};
            const RoundMoments moments({&round, 1}, {}, 1e-290);
            const double exact = std::log(sum);
            if (order - 1 > moments.highest_tilt()) continue;
            EXPECT_NEAR(
                moments.log_moment(Direction::remove, order - 1), exact, 1e-10 + 1e-10 * exact);
            EXPECT_GE(moments.log_moment(Direction::remove, order - 1), exact * (1 - 1e-14));
        }
}

TEST(SampledBounds, ThatContradictEachOtherAreNeverAFigure) {
    const Certified both = agreed({3, 1}, {4, 2});
    EXPECT_EQ(both.upper, 3);
    EXPECT_EQ(both.lower, 2);
    EXPECT_THROW((void)agreed({25.08, 0}, {800, 645.3}), PrivacyError);
    EXPECT_THROW((void)agreed({0, 0}, {2000, 400}), PrivacyError);
    EXPECT_THROW((void)agreed({std::nan(""), 0}, {1, 0}), PrivacyError);
    EXPECT_THROW((void)agreed({1, 0}, {1, std::nan("")}), PrivacyError);
}

}  // namespace
}  // namespace sotto
