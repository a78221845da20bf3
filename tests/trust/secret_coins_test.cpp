#include "trust/secret_coins.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Rows = std::vector<Eigen::Index>;

SecretCoins coins(double probability, std::uint64_t seed = 1) {
    return {SecretKey::from_noise_seed(seed, "test", 0), probability};
}

Rows drawn(const SecretCoins& own, std::uint64_t round, Eigen::Index records) {
    Rows rows;
    own.draw(round, records, rows);
    return rows;
}

/// Numbers of standard deviations that a count lies off.
double off(double count, double trials, double probability) {
    return (count - trials * probability) / std::sqrt(trials * probability * (1 - probability));
}

TEST(SecretCoins, FallWithTheirProbability) {
    for (const double probability : {3e-5, 0.0427, 0.1, 0.5, 1 - 1e-5}) {
        const SecretCoins own = coins(probability);
        constexpr Eigen::Index records = 5000;
        constexpr int rounds = 400;
        double count = 0;
        for (int t = 0; t < rounds; ++t)
            count += static_cast<double>(drawn(own, static_cast<std::uint64_t>(t), records).size());
        EXPECT_LT(std::abs(off(count, 5000.0 * rounds, probability)), 5) << probability;
    }
}

TEST(SecretCoins, AreDecidedByTheWholeProbability) {
    // With probability 1 - 2^-53 all but a coin in 2^53 fall, of which each needs many bits.
    constexpr Eigen::Index records = 1 << 22;
    const double most = 1 - 0x1p-53, least = 1 - 0x1p-16;
    EXPECT_EQ(std::ssize(drawn(coins(most), 3, records)), records);
    const auto left_out =
        static_cast<double>(records - std::ssize(drawn(coins(least), 3, records)));
    EXPECT_LT(std::abs(off(left_out, static_cast<double>(records), 0x1p-16)), 5);
    const auto few = static_cast<double>(drawn(coins(0x1p-17), 3, records).size());
    EXPECT_LT(std::abs(off(few, static_cast<double>(records), 0x1p-17)), 5);
}

TEST(SecretCoins, AreIndependentBetweenRoundsRecordsAndKeys) {
    constexpr Eigen::Index records = 4096;
    const double probability = 0.25;
    const SecretCoins one = coins(probability), other = coins(probability, 2);
    const auto common = [](const Rows& a, const Rows& b, Eigen::Index shift) {
        double count = 0;
        for (const Eigen::Index row : a)
            count += std::ranges::binary_search(b, row + shift) ? 1 : 0;
        return count;
    };
    double rounds = 0, neighbours = 0, keys = 0;
    constexpr int trials = 100;
    for (std::uint64_t t = 0; t < trials; ++t) {
        const Rows now = drawn(one, t, records);
        rounds += common(now, drawn(one, t + 1, records), 0);
        neighbours += common(now, now, 1);
        keys += common(now, drawn(other, t, records), 0);
    }
    const double squared = probability * probability;
    EXPECT_LT(std::abs(off(rounds, 4096.0 * trials, squared)), 6);
    EXPECT_LT(std::abs(off(neighbours, 4095.0 * trials, squared)), 6);
    EXPECT_LT(std::abs(off(keys, 4096.0 * trials, squared)), 6);
}

TEST(SecretCoins, AreAFunctionOfKeyAndRound) {
    const SecretCoins own = coins(0.1);
    const Rows first = drawn(own, 7, 3000);
    (void)drawn(own, 8, 3000);
    EXPECT_EQ(drawn(own, 7, 3000), first);
    EXPECT_EQ(drawn(coins(0.1), 7, 3000), first);
    EXPECT_NE(drawn(own, 8, 3000), first);
    // The coin of a record does not depend on how many there are.
    const Rows fewer = drawn(own, 7, 100);
    EXPECT_TRUE(std::ranges::equal(fewer, std::span(first).first(fewer.size())));
}

TEST(SecretCoins, OfCertaintyChooseAll) { EXPECT_EQ(drawn(coins(1), 0, 5000).size(), 5000U); }

TEST(SecretCoins, HaveProbabilitiesThatAreAccountedForExactly) {
    EXPECT_EQ(coins(0.1).probability(), std::floor(0.1 * 0x1p53) * 0x1p-53);
    EXPECT_EQ(coins(1).probability(), 1);
    EXPECT_EQ(coins(0x1.8p-53).probability(), 0x1p-53);
    for (const double wrong : {0.0, -0.1, 0x1p-54, 1.5, std::nan("")})
        EXPECT_THROW((void)coins(wrong), ConfigError) << wrong;
}

SecretPlaces places(long rounds, std::uint64_t seed = 1) {
    return {SecretKey::from_noise_seed(seed, "test", 0), rounds};
}

Rows placed(SecretPlaces& own, std::uint64_t round, Eigen::Index records) {
    Rows rows;
    own.draw(round, records, rows);
    return rows;
}

TEST(SecretPlaces, OfEveryRecordAreOneInEachEpochAndUniform) {
    constexpr Eigen::Index records = 5000;
    for (const long rounds : {2L, 3L, 10L, 64L}) {
        SecretPlaces own = places(rounds);
        for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
            Rows all;
            for (long t = 0; t < rounds; ++t) {
                const Rows rows = placed(
                    own,
                    epoch * static_cast<std::uint64_t>(rounds) + static_cast<std::uint64_t>(t),
                    records);
                EXPECT_TRUE(std::ranges::is_sorted(rows));
                EXPECT_LT(std::abs(off(static_cast<double>(rows.size()),
                                       static_cast<double>(records),
                                       1 / static_cast<double>(rounds))),
                          5)
                    << rounds;
                all.insert(all.end(), rows.begin(), rows.end());
            }
            std::ranges::sort(all);
            ASSERT_EQ(std::ssize(all), records);
            for (Eigen::Index i = 0; i < records; ++i)
                ASSERT_EQ(all[static_cast<std::size_t>(i)], i);
        }
    }
}

TEST(SecretPlaces, AreDrawnAnewInEveryEpochAndWithEveryKey) {
    constexpr Eigen::Index records = 20000;
    constexpr std::uint64_t rounds = 8;
    SecretPlaces own = places(rounds), other = places(rounds, 2);
    double again = 0, of_others = 0, neighbours = 0;
    for (std::uint64_t t = 0; t < rounds; ++t) {
        const Rows now = placed(own, t, records);
        const Rows later = placed(own, t + rounds, records);
        const Rows theirs = placed(other, t, records);
        for (const Eigen::Index row : now) {
            again += std::ranges::binary_search(later, row) ? 1 : 0;
            of_others += std::ranges::binary_search(theirs, row) ? 1 : 0;
            neighbours += std::ranges::binary_search(now, row + 1) ? 1 : 0;
        }
    }
    for (const double count : {again, of_others, neighbours})
        EXPECT_LT(std::abs(off(count, records, 1.0 / rounds)), 5);
}

TEST(SecretPlaces, AreAFunctionOfKeyAndRoundInAnyOrder) {
    SecretPlaces own = places(7);
    const Rows first = placed(own, 9, 3000);
    (void)placed(own, 100, 3000);
    (void)placed(own, 3, 100);
    EXPECT_EQ(placed(own, 9, 3000), first);
    SecretPlaces same = places(7);
    EXPECT_EQ(placed(same, 9, 3000), first);
}

TEST(SecretPlaces, OfNoEpochAreRefused) {
    for (const long wrong : {-1L, 0L, 1L, (1L << 31) + 1})
        EXPECT_THROW((void)places(wrong), ConfigError) << wrong;
}

}  // namespace
}  // namespace sotto
