#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "noise/stream_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"

// The tail of the transform: pairs whose radius is at least 6.66, which come once in 2^32. They are
// forced by first words whose high bits are ones.

namespace sotto {
namespace {

using test::chacha20_words;
using test::ChachaNonce;
using test::counting_key;
using test::counting_stream;
using test::ForcedLevel;
using test::reference_pair;
using test::same_bits;

constexpr std::size_t half = normal_block / 2;
constexpr std::size_t words_per_pair = more_words_per_block / half;
constexpr double in_tail_radius = 6.660437;  // sqrt(2 * 32 * log 2)

using Block = std::array<std::uint64_t, normal_block>;
using More = std::array<std::uint64_t, more_words_per_block>;
using Normals = std::array<double, normal_block>;

Normals normals_of(const Block& words, const More& more) {
    Normals z;
    EXPECT_EQ(normals_from_bits(words, z),
              std::any_of(words.begin(), words.begin() + half, in_tail));
    refine_tail(words, more, z);
    return z;
}

/// The bits that make u1 of one pair, first ones to last: `ones` of them set, then those of `rest`.
struct Uniform {
    std::uint64_t first = 0;
    std::uint64_t second = 0;  // its low 12 bits
    std::array<std::uint64_t, words_per_pair> more{};
};

Uniform uniform_of(int ones, std::span<const std::uint64_t, 6> rest) {
    Uniform u;
    int at = 0;
    std::size_t taken = 0;
    const auto next = [&] {
        const std::size_t i = taken++;
        return at++ < ones ? std::uint64_t{1} : rest[i / 64] >> (i % 64) & 1;
    };
    for (int bit = 63; bit >= 0; --bit) u.first |= next() << bit;
    for (int bit = 11; bit >= 0; --bit) u.second |= next() << bit;
    for (auto& word : u.more)
        for (int bit = 63; bit >= 12; --bit) word |= next() << bit;
    return u;
}

/// `count` pairs with u1 <= 2^-ones, u1 and the angle otherwise random.
std::vector<std::pair<double, double>> forced_pairs(int ones, std::size_t count) {
    const auto random =
        chacha20_words(counting_key(ones), 0, ChachaNonce{}, (count / half + 1) * half * 8);
    std::vector<std::pair<double, double>> pairs;
    for (std::size_t at = 0; pairs.size() < count; at += half * 8) {
        Block words;
        More more;
        for (std::size_t i = 0; i < half; ++i) {
            const std::uint64_t* of_pair = random.data() + at + 8 * i;
            const Uniform u = uniform_of(ones, std::span<const std::uint64_t, 6>(of_pair, 6));
            words[i] = u.first;
            words[i + half] = (of_pair[6] & ~std::uint64_t{0xFFF}) | u.second;
            std::ranges::copy(u.more, more.begin() + static_cast<long>(words_per_pair * i));
        }
        const Normals z = normals_of(words, more);
        for (std::size_t i = 0; i < half; ++i) pairs.emplace_back(z[i], z[i + half]);
    }
    return pairs;
}

/// Number of `values` in (x, infinity) against a binomial of probability p, by five standard
/// errors.
template <class Values>
void expect_share(const Values& values, double x, double p, const std::string& what) {
    const auto n = static_cast<double>(values.size());
    const auto hits =
        static_cast<double>(std::ranges::count_if(values, [&](double value) { return value > x; }));
    EXPECT_NEAR(hits, n * p, 5 * std::sqrt(n * p * (1 - p)) + 1e-9) << what << " beyond " << x;
}

TEST(NormalTail, RadiiAndValuesFollowTheNormalDistributionFar) {
    for (const int ones : {32, 33, 45, 60, 76, 77, 100, 150, 220}) {
        const auto pairs = forced_pairs(ones, 40'000);
        const double nearest = std::sqrt(2 * ones * std::numbers::ln2);
        std::vector<double> radii, cosines, sines;
        for (const auto& [c, s] : pairs) {
            radii.push_back(std::hypot(c, s));
            cosines.push_back(c), sines.push_back(-s);
        }
        ASSERT_GE(*std::ranges::min_element(radii), nearest * (1 - 1e-15)) << ones;
        for (const double further : {0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5}) {
            const double x = nearest + further;
            const double known = -ones * std::numbers::ln2;
            expect_share(radii, x, std::exp(-x * x / 2 - known), "radii");
            // One coordinate beyond `nearest` has a radius beyond it, too.
            const double tail = std::exp(std::log(std::erfc(x / std::numbers::sqrt2) / 2) - known);
            expect_share(cosines, x, tail, "cosines");
            expect_share(sines, x, tail, "sines");
        }
    }
}

TEST(NormalTail, EveryGridStepOfATailIsReached) {
    // With 52 bits alone radii about 7.9 lay 1e-3 apart: a thousand steps of a grid of 2^-20, so a
    // neighbour's outcome could be impossible. Steps of u1 as far as the bits go, or 2^-44 of it.
    const std::array<std::uint64_t, 6> zeros{};
    for (int ones = 32; ones <= 240; ++ones) {
        const int last = std::min(ones + 44, 283);
        std::array<std::uint64_t, 6> rest{};
        const std::size_t free_bit = static_cast<std::size_t>(last);
        rest[free_bit / 64] = std::uint64_t{1} << (free_bit % 64);
        Block words{};
        More more{};
        const Uniform here = uniform_of(ones, zeros), there = uniform_of(ones, rest);
        for (const auto& [i, u] : {std::pair{0U, here}, {1U, there}}) {
            words[i] = u.first, words[i + half] = u.second;
            std::ranges::copy(u.more, more.begin() + static_cast<long>(words_per_pair * i));
        }
        const Normals z = normals_of(words, more);
        EXPECT_LE(std::abs(z[1] - z[0]), 0x1p-44) << ones;
        EXPECT_NEAR(z[0], std::sqrt(2 * ones * std::numbers::ln2), 1e-13);
    }
    EXPECT_DOUBLE_EQ(tail_radius, std::sqrt(2 * 240 * std::numbers::ln2));
}

TEST(NormalTail, RefinedPairsAgreeWithTheReferenceAndOthersAreLeftAlone) {
    const auto random = chacha20_words(counting_key(9), 0, ChachaNonce{}, 64 * 3);
    Block words;
    More more;
    std::copy_n(random.begin(), words.size(), words.begin());
    std::copy_n(random.begin() + 64, more.size(), more.begin());
    Normals before;
    ASSERT_FALSE(normals_from_bits(words, before));
    const std::vector<std::size_t> tail{0, 5, 31};
    for (const std::size_t i : tail) words[i] |= 0xFFFFFFFF00000000;
    const Normals z = normals_of(words, more);
    for (std::size_t i = 0; i < half; ++i) {
        if (std::ranges::find(tail, i) == tail.end()) {
            EXPECT_EQ(z[i], before[i]);
            EXPECT_EQ(z[i + half], before[i + half]);
            continue;
        }
        long double part = 0;
        for (std::size_t j = words_per_pair; j-- > 0;)
            part = (part + static_cast<long double>(more[words_per_pair * i + j] >> 12)) * 0x1p-52L;
        const auto [c, s] = reference_pair(words[i], words[i + half], part);
        EXPECT_NEAR(z[i], static_cast<double>(c), 1e-14);
        EXPECT_NEAR(z[i + half], static_cast<double>(s), 1e-14);
    }
}

TEST(NormalTail, ABoundaryOfTheTailIsWhereTheHigh32BitsAreOnes) {
    EXPECT_TRUE(in_tail(0xFFFFFFFF00000000));
    EXPECT_TRUE(in_tail(~std::uint64_t{0}));
    EXPECT_FALSE(in_tail(0xFFFFFFFEFFFFFFFF));
    for (const auto& level : simd_levels()) {
        const ForcedLevel forced(level);
        for (std::size_t i = 0; i < half; ++i)
            for (const std::uint64_t low : {std::uint64_t{0}, std::uint64_t{0xFFF}}) {
                Block words{};
                words[i + half] = low;
                Normals z;
                words[i] = 0xFFFFFFFEFFFFFFFF;
                EXPECT_FALSE(normals_from_bits(words, z)) << level << ", pair " << i;
                words[i] = 0xFFFFFFFF00000000;
                EXPECT_TRUE(normals_from_bits(words, z)) << level << ", pair " << i;
                EXPECT_NEAR(z[i], in_tail_radius, 1e-6);
            }
    }
}

TEST(NormalTail, EveryLevelGivesTheSameBitsInTheTail) {
    for (const int ones : {32, 60, 76, 130, 283, 284}) {
        std::vector<std::pair<double, double>> expected;
        for (const auto& level : simd_levels()) {
            const ForcedLevel forced(level);
            const auto pairs = forced_pairs(ones, 2000);
            if (expected.empty()) expected = pairs;
            EXPECT_EQ(pairs, expected) << level;
        }
    }
}

TEST(NormalTail, TheLongestNormalIsFinite) {
    Block words;
    words.fill(~std::uint64_t{0});
    More more;
    more.fill(~std::uint64_t{0});
    for (const double z : normals_of(words, more)) ASSERT_TRUE(std::isfinite(z));
    std::fill(words.begin() + half, words.end(), 0xFFF);
    EXPECT_NEAR(normals_of(words, more)[0], std::sqrt(2 * 284 * std::numbers::ln2), 1e-13);
}

TEST(NormalTail, AStreamFinishesItsTailFromAKeystreamOfItsOwn) {
    // The first pair in the tail of the counting key's epoch 1; found by search.
    constexpr std::uint64_t round = 28, block = 346'263;
    constexpr std::size_t pair = 1;
    const auto stream = counting_stream();
    Normals z;
    stream.fill(1, round, 64 * block, z);
    ChachaNonce nonce{1, 0, 0, 0, static_cast<std::uint8_t>(round)};
    const auto words =
        chacha20_words(counting_key(), static_cast<std::uint32_t>(8 * block), nonce, normal_block);
    ASSERT_EQ(words[pair], 0xFFFFFFFF3649CE2F);
    Normals unfinished;
    ASSERT_TRUE(normals_from_bits(words, unfinished));
    EXPECT_NE(z[pair], unfinished[pair]);
    EXPECT_NEAR(z[pair], unfinished[pair], 1e-8);
    EXPECT_GT(std::hypot(z[pair], z[pair + half]), in_tail_radius);
    for (std::size_t i = 0; i < half; ++i) EXPECT_EQ(z[i] == unfinished[i], i != pair) << i;
    // Beside others, and as the last, incomplete block.
    std::vector<double> more(64 * 6 + 40);
    stream.fill(1, round, 64 * (block - 3), more);
    EXPECT_TRUE(same_bits(std::span(more).subspan(64 * 3, 64), z));
    std::vector<double> last(64 * 3 + 2);
    stream.fill(1, round, 64 * (block - 3), last);
    EXPECT_EQ(last.back(), z[pair]);
    for (const auto& level : simd_levels()) {
        const ForcedLevel forced(level);
        Normals again;
        stream.fill(1, round, 64 * block, again);
        EXPECT_TRUE(same_bits(again, z)) << level;
    }
}

TEST(NormalTail, TakesOneBlockAndAllItsWords) {
    Block words{};
    More more{};
    Normals z{};
    EXPECT_THROW(refine_tail(std::span(words).first(32), more, z), Error);
    EXPECT_THROW(refine_tail(words, std::span(more).first(64), z), Error);
    EXPECT_THROW(refine_tail(words, more, std::span(z).first(32)), Error);
}

}  // namespace
}  // namespace sotto
