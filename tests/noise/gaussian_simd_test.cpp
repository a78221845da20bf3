#include "noise/gaussian_simd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "noise/stream_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::chacha20_words;
using test::ChachaNonce;
using test::counting_key;
using test::expect_close_to_reference;
using test::ForcedLevel;
using test::same_bits;

TEST(GaussianSimd, TheTransformIsBoxMullerToAnAbsoluteErrorBelow1e14) {
    const auto words = chacha20_words(counting_key(), 0, ChachaNonce{}, 64 * 3000);
    std::vector<double> out(words.size());
    for (const auto& level : simd_levels()) {
        const ForcedLevel forced(level);
        (void)normals_from_bits(words, out);
        expect_close_to_reference(words, out);
    }
}

TEST(GaussianSimd, TheTransformIsAccurateAtEveryScaleOfBothUniforms) {
    // u1 from 2^-52 to 1 and 1 - 2^-52, u2 at and beside every eighth of a turn.
    std::vector<std::uint64_t> radii{0, ~std::uint64_t{0}};
    for (int bit = 12; bit < 64; ++bit) {
        radii.push_back(std::uint64_t{1} << bit);
        radii.push_back(~(std::uint64_t{1} << bit));
        radii.push_back(~std::uint64_t{0} >> (bit - 11));
        radii.push_back(~std::uint64_t{0} << bit);
    }
    std::vector<std::uint64_t> angles;
    for (std::uint64_t eighth = 0; eighth < 8; ++eighth)
        for (const std::int64_t beside : {-3, -1, 0, 1, 3})
            angles.push_back((eighth << 61) + (static_cast<std::uint64_t>(beside) << 12));
    std::vector<std::uint64_t> words;
    std::vector<std::uint64_t> second_half;
    for (const auto radius : radii)
        for (const auto angle : angles) {
            words.push_back(radius);
            second_half.push_back(angle);
            if (second_half.size() == normal_block / 2) {
                words.insert(words.end(), second_half.begin(), second_half.end());
                second_half.clear();
            }
        }
    words.resize(words.size() / normal_block * normal_block);
    ASSERT_GT(words.size(), 10'000U);
    std::vector<double> out(words.size());
    (void)normals_from_bits(words, out);
    expect_close_to_reference(words, out);
}

TEST(GaussianSimd, WordsOfAllZerosAndAllOnesGiveFiniteNormalsWithinTheStatedLargest) {
    // All 76 bits of u1 are ones; where only the first word's are, 64.
    const double largest = std::sqrt(2 * 76 * std::numbers::ln2);
    for (const std::uint64_t first : {std::uint64_t{0}, ~std::uint64_t{0}})
        for (const std::uint64_t second : {std::uint64_t{0}, ~std::uint64_t{0}}) {
            std::vector<std::uint64_t> words(normal_block, first);
            std::fill(words.begin() + 32, words.end(), second);
            std::vector<double> out(normal_block);
            (void)normals_from_bits(words, out);
            for (const double z : out) {
                ASSERT_TRUE(std::isfinite(z));
                EXPECT_LE(std::abs(z), largest + 1e-14);
            }
            const double expected = second == 0 ? std::sqrt(2 * 64 * std::numbers::ln2) : largest;
            EXPECT_NEAR(out[0], first == 0 ? 0.0 : expected, 1e-14);
        }
}

TEST(GaussianSimd, EveryLevelGivesTheSameBits) {
    const auto words = chacha20_words(counting_key(), 7, ChachaNonce{}, normal_block * 500);
    std::vector<double> expected(words.size());
    (void)normals_from_bits(words, expected);
    for (const auto& level : simd_levels()) {
        const ForcedLevel forced(level);
        std::vector<double> out(words.size());
        (void)normals_from_bits(words, out);
        EXPECT_TRUE(same_bits(out, expected)) << level;
    }
}

TEST(GaussianSimd, ABlockDependsOnItsOwnWordsOnly) {
    const auto words = chacha20_words(counting_key(), 0, ChachaNonce{}, normal_block * 20);
    std::vector<double> all(words.size()), one(normal_block);
    (void)normals_from_bits(words, all);
    for (std::size_t first = 0; first < words.size(); first += normal_block) {
        (void)normals_from_bits(std::span(words).subspan(first, normal_block), one);
        EXPECT_TRUE(same_bits(one, std::span(all).subspan(first, normal_block)));
    }
}

TEST(GaussianSimd, TakesWholeBlocksAndAsManyNormalsAsWords) {
    const std::vector<std::uint64_t> words(64);
    std::vector<double> out(64);
    EXPECT_THROW((void)normals_from_bits(std::span(words).first(32), std::span(out).first(32)),
                 Error);
    EXPECT_THROW((void)normals_from_bits(words, std::span(out).first(32)), Error);
}

TEST(GaussianSimd, TheLevelsOfThisMachineAreCompiledAndTheBestIsFirst) {
    const auto levels = simd_levels();
    ASSERT_GE(levels.size(), 2U);
    const auto has = [&](const char* name) {
        return std::find(levels.begin(), levels.end(), name) != levels.end();
    };
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    EXPECT_EQ(has("AVX2"), avx2);
    EXPECT_EQ(has("AVX3"), avx512);
    if (avx2) {
        EXPECT_EQ(levels.front(), avx512 ? "AVX3" : "AVX2");
    }
    // Forcing one does not hide the others.
    const ForcedLevel forced(levels.back());
    EXPECT_EQ(simd_levels(), levels);
}

TEST(GaussianSimd, AnUnknownLevelIsRefused) {
    EXPECT_THROW(force_simd_level("AVX9"), ConfigError);
    EXPECT_NO_THROW(force_simd_level(""));
}

}  // namespace
}  // namespace sotto
