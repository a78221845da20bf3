#include "sotto/privacy/temporal_sensitivity.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"
#include "sotto/plan/lagged_noise.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;
using test::relatively_near;

/// The definition, with C_time given entry by entry.
template <class Entry>
double brute_force_sensitivity(Entry&& c, long cycle, long rounds) {
    double largest = 0;
    for (long first = 0; first < cycle; ++first) {
        double sum = 0;
        for (long s = 0; s < rounds; ++s)
            for (long t = 0; t < rounds; ++t) {
                if (s % cycle != first || t % cycle != first) continue;
                double gram = 0;
                for (long r = 0; r < rounds; ++r) gram += c(r, s) * c(r, t);
                sum += std::abs(gram);
            }
        largest = std::max(largest, sum);
    }
    return largest;
}

TEST(TemporalSensitivity, OfIndependentNoiseCountsParticipations) {
    for (const long rounds : {1L, 2L, 7L, 12L, 100L})
        for (const long cycle : {1L, 2L, 3L, 7L, 12L, 1000L}) {
            const double found = temporal_sensitivity_squared({}, {cycle}, rounds);
            EXPECT_EQ(found, std::ceil(static_cast<double>(rounds) / static_cast<double>(cycle)));
            EXPECT_EQ(found,
                      brute_force_sensitivity(
                          [](long s, long t) { return s == t ? 1.0 : 0.0; }, cycle, rounds));
        }
}

TEST(TemporalSensitivity, OfEveryKindOfFactorIsTheDefinition) {
    constexpr std::uint64_t seed = 5;
    constexpr long length = 12;
    SeededRandom random(seed, "temporal factor");
    TemporalFactor dense{TemporalFactor::Kind::dense, Eigen::MatrixXd::Zero(length, length)};
    TemporalFactor banded{TemporalFactor::Kind::banded, Eigen::MatrixXd::Zero(length, 3)};
    for (long t = 0; t < length; ++t) {
        for (long s = 0; s < t; ++s) dense.lower(t, s) = random.normal();
        dense.lower(t, t) = 1 + random.uniform();
        banded.lower.row(t) << 1 + random.uniform(), random.normal(), random.normal();
    }
    TemporalFactor one_lag{TemporalFactor::Kind::one_lag, Eigen::MatrixXd::Zero(length, 2)};
    for (long t = 0; t < length; ++t)
        one_lag.lower.row(t) << 1 + random.uniform(), t == 5 ? 0.0 : random.normal();
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(length, length);
    inverse.diagonal() = one_lag.lower.col(0);
    inverse.diagonal(-1) = one_lag.lower.col(1).tail(length - 1);
    const Eigen::MatrixXd inverted = inverse.inverse();
    for (const long rounds : {1L, 2L, 5L, 11L, 12L})
        for (const long cycle : {1L, 2L, 4L, 12L, 50L}) {
            SCOPED_TRACE(testing::Message() << rounds << " rounds, cycle " << cycle);
            EXPECT_TRUE(relatively_near(
                temporal_sensitivity_squared(one_lag, {cycle}, rounds),
                brute_force_sensitivity(
                    [&](long t, long s) { return t >= s ? inverted(t, s) : 0.0; }, cycle, rounds),
                1e-12));
            EXPECT_TRUE(relatively_near(
                temporal_sensitivity_squared(dense, {cycle}, rounds),
                brute_force_sensitivity(
                    [&](long t, long s) { return dense.lower(t, s); }, cycle, rounds),
                1e-13));
            EXPECT_TRUE(relatively_near(temporal_sensitivity_squared(banded, {cycle}, rounds),
                                        brute_force_sensitivity(
                                            [&](long t, long s) {
                                                return t >= s && t - s < 3 ? banded.lower(t, t - s)
                                                                           : 0.0;
                                            },
                                            cycle,
                                            rounds),
                                        1e-13));
        }
}

TEST(RoundShift, OfEveryKindOfFactorIsTheLargestSumOfOnePatternInARow) {
    constexpr long length = 9;
    SeededRandom random(3, "round shift");
    TemporalFactor dense{TemporalFactor::Kind::dense, Eigen::MatrixXd::Zero(length, length)};
    TemporalFactor banded{TemporalFactor::Kind::banded, Eigen::MatrixXd::Zero(length, 3)};
    TemporalFactor one_lag{TemporalFactor::Kind::one_lag, Eigen::MatrixXd::Zero(length, 2)};
    for (long t = 0; t < length; ++t) {
        for (long s = 0; s < t; ++s) dense.lower(t, s) = random.normal();
        dense.lower(t, t) = 1 + random.uniform();
        banded.lower.row(t) << 1 + random.uniform(), random.normal(), random.normal();
        one_lag.lower.row(t) << 1 + random.uniform(), random.normal();
    }
    for (const TemporalFactor& factor : {dense, banded, one_lag})
        for (const long rounds : {1L, 4L, 9L})
            for (const long cycle : {1L, 2L, 5L, 30L}) {
                Eigen::MatrixXd c = dense_factor(factor, rounds).cwiseAbs();
                double expected = 0;
                for (long j = 0; j < cycle; ++j)
                    for (long s = 0; s < rounds; ++s) {
                        double sum = 0;
                        for (long t = j; t < rounds; t += cycle) sum += c(s, t);
                        expected = std::max(expected, sum);
                    }
                EXPECT_TRUE(
                    relatively_near(largest_round_shift(factor, {cycle}, rounds), expected, 1e-12))
                    << rounds << " rounds, cycle " << cycle;
            }
    EXPECT_EQ(largest_round_shift({}, {3}, 100), 1);
    EXPECT_EQ(largest_round_shift(dense, {3}, 0), 0);
    EXPECT_THROW((void)largest_round_shift(banded, {3}, length + 1), PrivacyError);
}

TEST(TemporalSensitivity, OfAFactorThatEndsBeforeTheRunIsRefused) {
    const TemporalFactor factor{TemporalFactor::Kind::dense, Eigen::MatrixXd::Identity(5, 5)};
    EXPECT_EQ(temporal_sensitivity_squared(factor, {}, 5), 5.0);
    EXPECT_TRUE(contains(
        message_of<PrivacyError>([&] { (void)temporal_sensitivity_squared(factor, {}, 6); }),
        "covers 5 rounds, the run has 6"));
}

TEST(PatternSensitivities, HaveTheLargestAsThatOfTheRun) {
    TemporalFactor factor{TemporalFactor::Kind::banded, Eigen::MatrixXd::Constant(9, 2, 0.5)};
    for (const TemporalFactor& each : {TemporalFactor{}, factor})
        for (const long cycle : {1L, 2L, 4L, 20L}) {
            const Eigen::VectorXd patterns = pattern_sensitivities_squared(each, {cycle}, 9);
            EXPECT_EQ(patterns.size(), std::min(cycle, 9L));
            EXPECT_DOUBLE_EQ(patterns.maxCoeff(), temporal_sensitivity_squared(each, {cycle}, 9));
        }
    // Of independent rounds every round is counted once.
    EXPECT_EQ(pattern_sensitivities_squared({}, {4}, 9), Eigen::Vector4d(3, 2, 2, 2));
}

/// Unit columns of this many subdiagonals.
TemporalFactor unit_bands(long rounds, long band) {
    SeededRandom random(9, "unit columns");
    TemporalFactor factor{TemporalFactor::Kind::banded, Eigen::MatrixXd::Zero(rounds, band + 1)};
    for (long s = 0; s < rounds; ++s) {
        const long reach = std::min(band, rounds - 1 - s);
        Eigen::VectorXd column(reach + 1);
        column(0) = 1;
        for (long k = 1; k <= reach; ++k) column(k) = random.normal();
        column.normalize();
        for (long k = 0; k <= reach; ++k) factor.lower(s + k, k) = column(k);
    }
    return factor;
}

TEST(TemporalSensitivity, OfSampledRoundsIsTheirNumber) {
    constexpr Participation sampled{.cycle = 4, .poisson = true};
    for (const long rounds : {1L, 3L, 4L, 9L, 18L}) {
        const Eigen::VectorXd plain = pattern_sensitivities_squared({}, sampled, rounds);
        // Columns that the last round cuts short count as whole ones.
        const Eigen::VectorXd found =
            pattern_sensitivities_squared(unit_bands(18, 3), sampled, rounds);
        EXPECT_TRUE(found.isApprox(plain, 1e-12)) << rounds;
        EXPECT_TRUE((found.array() >= plain.array()).all()) << "counted from above";
        EXPECT_EQ(temporal_sensitivity_squared({}, sampled, rounds), (rounds + 3) / 4);
    }
}

TEST(SeparateRounds, AreNeededOfSampledOnesOnly) {
    const auto refusal = [](const TemporalFactor& factor, const Participation& participation) {
        return message_of<ConfigError>(
            [&] { require_separate_rounds(factor, participation, factor.lower.rows()); });
    };
    const TemporalFactor bands = unit_bands(12, 3);
    for (const long cycle : {4L, 5L, 12L})
        EXPECT_NO_THROW(require_separate_rounds(bands, {.cycle = cycle, .poisson = true}, 12));
    for (const long cycle : {1L, 3L}) {
        EXPECT_TRUE(contains(refusal(bands, {.cycle = cycle, .poisson = true}), "shares some"));
        EXPECT_NO_THROW(require_separate_rounds(bands, {.cycle = cycle}, 12));
        EXPECT_THROW(
            (void)pattern_sensitivities_squared(bands, {.cycle = cycle, .poisson = true}, 12),
            ConfigError);
    }
    constexpr Participation sampled{.cycle = 4, .poisson = true};
    EXPECT_NO_THROW(require_separate_rounds({}, sampled, 12));
    // A dense factor with these entries, and one that meets nothing before its end.
    TemporalFactor dense{TemporalFactor::Kind::dense, dense_factor(bands, 12)};
    EXPECT_NO_THROW(require_separate_rounds(dense, sampled, 12));
    dense.lower(9, 4) = 1e-12;
    EXPECT_TRUE(contains(refusal(dense, sampled), "round 4 shares some with round 9"));
    EXPECT_NO_THROW(require_separate_rounds(dense, sampled, 9));
    // Longer columns.
    TemporalFactor louder = bands;
    louder.lower.row(5) *= 1.01;
    EXPECT_TRUE(contains(refusal(louder, sampled), "squared length"));
    TemporalFactor one_lag{TemporalFactor::Kind::one_lag, Eigen::MatrixXd::Ones(12, 2)};
    one_lag.lower.col(1).setConstant(-0.5);
    EXPECT_TRUE(contains(refusal(one_lag, sampled), "shares some"));
    for (const long first : {0L, 4L, 8L}) one_lag.lower(first, 1) = 0;
    EXPECT_TRUE(contains(refusal(one_lag, sampled), "not one-lag"));
}

}  // namespace
}  // namespace sotto
