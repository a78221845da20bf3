#include "core/seeded_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sotto {
namespace {

constexpr std::uint64_t tested_seed = 20240607;
constexpr double standard_errors = 5;

/// Sample mean and, around the true mean, sample variance of `count` draws.
struct Moments {
    double mean = 0, variance = 0;
};
template <class Draw>
Moments moments_of(long count, double true_mean, Draw&& draw) {
    Moments moments;
    for (long i = 0; i < count; ++i) {
        const double x = draw();
        moments.mean += x;
        moments.variance += (x - true_mean) * (x - true_mean);
    }
    moments.mean /= static_cast<double>(count);
    moments.variance /= static_cast<double>(count);
    return moments;
}

/// The mean of N draws has variance v/N; the squared deviation has variance m4 - v^2.
void expect_moments(
    const Moments& found, long count, double mean, double variance, double fourth_central_moment) {
    const auto n = static_cast<double>(count);
    EXPECT_NEAR(found.mean, mean, standard_errors * std::sqrt(variance / n))
        << "seed " << tested_seed;
    EXPECT_NEAR(found.variance,
                variance,
                standard_errors * std::sqrt((fourth_central_moment - variance * variance) / n))
        << "seed " << tested_seed;
}

TEST(SeededRandom, DrawsTheSameValuesForEver) {
    // Computed by an independent implementation of BLAKE2b and ChaCha20 in Python; a change would
    // silently change every graph and partition.
    SeededRandom random(42, "graph");
    EXPECT_EQ(random(), 0xb48a32742fa9b149U);
    EXPECT_EQ(random(), 0x35927aeb1138954eU);
    EXPECT_EQ(random(), 0x68ea2f67a4ec882bU);
    EXPECT_EQ(random(), 0xcc83041363f7f979U);
    for (int i = 4; i < 63; ++i) (void)random();
    EXPECT_EQ(random(), 0x3fc79269fc563982U) << "last of the first block";
    EXPECT_EQ(random(), 0xbbf8362a50d0f978U) << "first of the second block";
    for (int i = 65; i < 129; ++i) (void)random();
    EXPECT_EQ(random(), 0x536266f6d07b1e5U) << "in the third block";
    SeededRandom extreme(~std::uint64_t{0}, "", 7);
    EXPECT_EQ(extreme(), 0x24b95682be9a0b1eU);
    EXPECT_EQ(extreme(), 0xf297d26fba13bd21U);
}

TEST(SeededRandom, SharesNoValueBetweenPurposesSeedsOrIndices) {
    std::vector<std::uint64_t> values;
    for (const char* purpose : {"graph", "partition", ""})
        for (const std::uint64_t other_seed : {0U, 1U, 42U})
            for (const std::uint64_t index : {0U, 1U, 2U}) {
                SeededRandom random(other_seed, purpose, index);
                for (int i = 0; i < 200; ++i) values.push_back(random());
            }
    std::sort(values.begin(), values.end());
    // 5400 values: two independent ones agree with probability below 1e-12.
    EXPECT_EQ(std::adjacent_find(values.begin(), values.end()), values.end());
}

TEST(SeededRandom, DrawsUncorrelatedSequencesForDifferentPurposes) {
    constexpr long count = 200'000;
    SeededRandom a(tested_seed, "graph"), b(tested_seed, "partition"), c(tested_seed, "graph", 1);
    double ab = 0, ac = 0;
    for (long i = 0; i < count; ++i) {
        const double x = a.uniform() - 0.5;
        ab += x * (b.uniform() - 0.5);
        ac += x * (c.uniform() - 0.5);
    }
    // The product of two independent centred uniforms has variance 1/144.
    const double bound = standard_errors * std::sqrt(count / 144.0);
    EXPECT_LE(std::abs(ab), bound) << "seed " << tested_seed;
    EXPECT_LE(std::abs(ac), bound) << "seed " << tested_seed;
}

TEST(SeededRandom, DrawsUniformNumbersOfMeanOneHalfAndVarianceOneTwelfth) {
    constexpr long count = 400'000;
    SeededRandom random(tested_seed, "uniform");
    double smallest = 1, largest = 0;
    const Moments found = moments_of(count, 0.5, [&] {
        const double x = random.uniform();
        smallest = std::min(smallest, x);
        largest = std::max(largest, x);
        return x;
    });
    expect_moments(found, count, 0.5, 1.0 / 12, 1.0 / 80);
    EXPECT_GE(smallest, 0.0);
    EXPECT_LT(largest, 1.0);
    EXPECT_LT(smallest, 1e-3);
    EXPECT_GT(largest, 1 - 1e-3);
}

TEST(SeededRandom, DrawsEveryWholeNumberBelowABoundEquallyOften) {
    for (const std::uint64_t bound : {1U, 2U, 3U, 7U, 10U, 64U}) {
        constexpr long count = 100'000;
        SeededRandom random(tested_seed, "below", bound);
        std::vector<long> histogram(bound);
        for (long i = 0; i < count; ++i) {
            const std::uint64_t value = random.below(bound);
            ASSERT_LT(value, bound);
            ++histogram[value];
        }
        const double p = 1 / static_cast<double>(bound);
        const double deviation = standard_errors * std::sqrt(count * p * (1 - p));
        for (const long frequency : histogram)
            EXPECT_NEAR(static_cast<double>(frequency), count * p, deviation)
                << "bound " << bound << ", seed " << tested_seed;
    }
}

TEST(SeededRandom, IsUnbiasedForABoundThatDoesNotDivideItsRange) {
    // Taking the remainder of 64 bits would draw the lower half of 3 * 2^62 twice as often.
    constexpr std::uint64_t bound = std::uint64_t{3} << 62;
    constexpr long count = 20'000;
    SeededRandom random(tested_seed, "large bound");
    long lower = 0;
    for (long i = 0; i < count; ++i)
        lower += random.below(bound) < (std::uint64_t{1} << 62) ? 1 : 0;
    EXPECT_NEAR(static_cast<double>(lower),
                count / 3.0,
                standard_errors * std::sqrt(count * (1.0 / 3) * (2.0 / 3)))
        << "seed " << tested_seed;
}

TEST(SeededRandom, DrawsNormalNumbersOfMeanZeroAndVarianceOne) {
    constexpr long count = 400'000;
    SeededRandom random(tested_seed, "normal");
    long beyond_two = 0;
    const Moments found = moments_of(count, 0.0, [&] {
        const double x = random.normal();
        if (std::abs(x) > 2) ++beyond_two;
        return x;
    });
    expect_moments(found, count, 0.0, 1.0, 3.0);
    const double p = std::erfc(std::sqrt(2.0));
    EXPECT_NEAR(static_cast<double>(beyond_two),
                count * p,
                standard_errors * std::sqrt(count * p * (1 - p)))
        << "seed " << tested_seed;
}

TEST(SeededRandom, DrawsGammaNumbersWhoseMeanAndVarianceAreTheShape) {
    constexpr long count = 200'000;
    for (const double shape : {0.1, 0.5, 1.0, 3.0, 10.0}) {
        SeededRandom random(tested_seed, "gamma", static_cast<std::uint64_t>(shape * 10));
        const Moments found = moments_of(count, shape, [&] { return random.gamma(shape); });
        // Central fourth moment of gamma(k, 1): 3 k^2 + 6 k.
        SCOPED_TRACE(shape);
        expect_moments(found, count, shape, shape, 3 * shape * shape + 6 * shape);
    }
}

TEST(SeededRandom, ShufflesEveryOrderEquallyOften) {
    constexpr long count = 60'000;
    SeededRandom random(tested_seed, "shuffle");
    std::vector<long> histogram(6);
    for (long i = 0; i < count; ++i) {
        std::vector<int> order{0, 1, 2};
        random.shuffle(order);
        // Which of the 3! orders it is.
        const auto kind = static_cast<std::size_t>(order[0] * 2 + (order[1] > order[2] ? 1 : 0));
        ++histogram[kind];
        std::sort(order.begin(), order.end());
        ASSERT_EQ(order, (std::vector<int>{0, 1, 2}));
    }
    const double p = 1.0 / 6;
    for (const long frequency : histogram)
        EXPECT_NEAR(static_cast<double>(frequency),
                    count * p,
                    standard_errors * std::sqrt(count * p * (1 - p)))
            << "seed " << tested_seed;
}

}  // namespace
}  // namespace sotto
