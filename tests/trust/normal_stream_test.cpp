#include "sotto/trust/normal_stream.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "trust/stream_support.hpp"

namespace sotto {
namespace {

using test::chacha20_block;
using test::chacha20_words;
using test::ChachaKey;
using test::ChachaNonce;
using test::counting_key;
using test::counting_stream;
using test::ForcedLevel;

std::string hex(std::span<const std::uint8_t> bytes) { return to_hex(bytes); }

bool same_bits(std::span<const double> a, std::span<const double> b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

std::vector<double> normals(const NormalStream& stream,
                            std::uint32_t epoch,
                            std::uint64_t round,
                            std::uint64_t first,
                            std::size_t count) {
    std::vector<double> out(count);
    stream.fill(epoch, round, first, out);
    return out;
}

/// Box-Muller of one pair in extended precision through the mathematical library.
std::pair<long double, long double> reference_pair(std::uint64_t first, std::uint64_t second) {
    const long double u1 = 1.0L - std::ldexp(static_cast<long double>(first >> 12), -52);
    const long double u2 = std::ldexp(static_cast<long double>(second >> 12), -52);
    const long double radius = std::sqrt(-2 * std::log(u1));
    const long double angle = 2 * std::numbers::pi_v<long double> * u2;
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

void expect_close_to_reference(std::span<const std::uint64_t> words, std::span<const double> out) {
    double worst = 0;
    for (std::size_t block = 0; block < words.size(); block += normal_block)
        for (std::size_t i = block; i < block + normal_block / 2; ++i) {
            const auto [c, s] = reference_pair(words[i], words[i + 32]);
            ASSERT_TRUE(std::isfinite(out[i]) && std::isfinite(out[i + 32]));
            worst = std::max({worst,
                              std::abs(static_cast<double>(out[i] - c)),
                              std::abs(static_cast<double>(out[i + 32] - s))});
        }
    EXPECT_LT(worst, 1e-14);
    ::testing::Test::RecordProperty("largest_error", std::to_string(worst * 1e16) + "e-16");
}

TEST(NormalStream, TheReferenceCipherOfTheseTestsGivesTheKeystreamOfRfc8439) {
    const ChachaNonce nonce{0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0};
    EXPECT_EQ(hex(chacha20_block(counting_key(), 1, nonce)),
              "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
              "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
    EXPECT_EQ(hex(chacha20_block(ChachaKey{}, 0, ChachaNonce{})),
              "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
              "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
    EXPECT_EQ(hex(chacha20_block(ChachaKey{}, 1, ChachaNonce{})),
              "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
              "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f");
}

TEST(NormalStream, ItsBitsAreChacha20AtTheNonceEpochRoundAndCounterEightTimesTheBlock) {
    // As little-endian bytes these are the nonce of RFC 8439 section 2.3.2.
    const std::uint32_t epoch = 0x09000000;
    const std::uint64_t round = 0x4a000000;
    const ChachaNonce nonce{0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0};
    const std::uint64_t last_block = (std::uint64_t{1} << 29) - 1;
    for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}}) {
        const auto words =
            chacha20_words(counting_key(), static_cast<std::uint32_t>(8 * block), nonce, 20 * 64);
        std::vector<double> expected(words.size());
        normals_from_bits(words, expected);
        EXPECT_TRUE(same_bits(normals(counting_stream(), epoch, round, 64 * block, expected.size()),
                              expected))
            << "block " << block;
    }
    const auto words =
        chacha20_words(counting_key(), static_cast<std::uint32_t>(8 * last_block), nonce, 64);
    std::vector<double> expected(64);
    normals_from_bits(words, expected);
    EXPECT_TRUE(same_bits(normals(counting_stream(), epoch, round, 64 * last_block, 64), expected));
    // Every byte of the round counts.
    const ChachaNonce wide{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const auto wide_words = chacha20_words(counting_key(), 0, wide, 64);
    normals_from_bits(wide_words, expected);
    EXPECT_TRUE(
        same_bits(normals(counting_stream(), 0x04030201, 0x0c0b0a0908070605, 0, 64), expected));
}

TEST(NormalStream, TheTransformIsBoxMullerToAnAbsoluteErrorBelow1e14) {
    const auto words = chacha20_words(counting_key(), 0, ChachaNonce{}, 64 * 3000);
    std::vector<double> out(words.size());
    for (const auto& level : simd_levels()) {
        const ForcedLevel forced(level);
        normals_from_bits(words, out);
        expect_close_to_reference(words, out);
    }
}

TEST(NormalStream, TheTransformIsAccurateAtEveryScaleOfBothUniforms) {
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
    normals_from_bits(words, out);
    expect_close_to_reference(words, out);
}

TEST(NormalStream, WordsOfAllZerosAndAllOnesGiveFiniteNormalsWithinTheStatedLargest) {
    const double largest = std::sqrt(2 * 52 * std::numbers::ln2);
    for (const std::uint64_t first : {std::uint64_t{0}, ~std::uint64_t{0}})
        for (const std::uint64_t second : {std::uint64_t{0}, ~std::uint64_t{0}}) {
            std::vector<std::uint64_t> words(normal_block, first);
            std::fill(words.begin() + 32, words.end(), second);
            std::vector<double> out(normal_block);
            normals_from_bits(words, out);
            for (const double z : out) {
                ASSERT_TRUE(std::isfinite(z));
                EXPECT_LE(std::abs(z), largest + 1e-14);
            }
            EXPECT_NEAR(out[0], first == 0 ? 0.0 : largest, 1e-14);
        }
}

TEST(NormalStream, TheFirstNormalsOfAFixedKeyAreTheKnownOnes) {
    const auto z = normals(counting_stream(), 1, 2, 0, 100'000);
    const auto words = chacha20_words(
        counting_key(), 0, ChachaNonce{1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}, normal_block);
    expect_close_to_reference(words, std::span(z).first(normal_block));
    // From another program: ChaCha20 in Python, Box-Muller with 40 digits.
    EXPECT_NEAR(z[0], 1.6783769087506275, 1e-14);
    EXPECT_NEAR(z[1], -0.68856574012284062, 1e-14);
    EXPECT_NEAR(z[32], -1.6430761516995512, 1e-14);
    EXPECT_NEAR(z[99'999], 0.26866577253693895, 1e-14);
}

TEST(NormalStream, TheBitsOf100000NormalsNeverChange) {
    // Agents with different builds share streams: if this value has to change, noise no longer
    // cancels between an old and a new build.
    const auto z = normals(counting_stream(), 1, 2, 0, 100'000);
    std::array<std::uint8_t, crypto_hash_sha256_BYTES> digest{};
    crypto_hash_sha256(
        digest.data(), reinterpret_cast<const unsigned char*>(z.data()), z.size() * sizeof(double));
    EXPECT_EQ(hex(digest), "c14296187c266dd132217013bf602adb7d0077b21e017219d7e8140cc6e73366");
}

TEST(NormalStream, EveryLevelGivesTheSameBits) {
    const auto expected = normals(counting_stream(), 3, 4, 640, 200'003);
    for (const auto& level : simd_levels()) {
        const ForcedLevel forced(level);
        EXPECT_TRUE(same_bits(normals(counting_stream(), 3, 4, 640, 200'003), expected)) << level;
    }
}

TEST(NormalStream, TheLevelsOfThisMachineAreCompiledAndTheBestIsFirst) {
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

TEST(NormalStream, AnUnknownLevelIsRefused) {
    EXPECT_THROW(force_simd_level("AVX9"), ConfigError);
    EXPECT_NO_THROW(force_simd_level(""));
}

TEST(NormalStream, AnySliceEqualsThatPartOfTheWholeRound) {
    const auto stream = counting_stream();
    const auto whole = normals(stream, 1, 5, 0, 5000);
    for (const std::uint64_t first : {0, 64, 448, 512, 576, 3072, 4928})
        for (const std::size_t count : {0, 1, 31, 32, 33, 63, 64, 65, 124, 511, 512, 513, 1000}) {
            if (first + count > whole.size()) continue;
            EXPECT_TRUE(same_bits(normals(stream, 1, 5, first, count),
                                  std::span(whole).subspan(first, count)))
                << first << " + " << count;
        }
}

TEST(NormalStream, AFillWritesNothingBeyondItsEnd) {
    const auto stream = counting_stream();
    for (const std::size_t count : {0, 1, 63, 64, 65, 124, 513}) {
        std::vector<double> out(count + 64, -77.0);
        stream.fill(0, 0, 0, std::span(out).first(count));
        for (std::size_t i = count; i < out.size(); ++i) ASSERT_EQ(out[i], -77.0) << count;
    }
}

TEST(NormalStream, AnotherKeyEpochOrRoundGivesOtherValues) {
    const auto base = normals(counting_stream(), 1, 5, 0, 640);
    const auto expect_unrelated = [&](const std::vector<double>& other, const char* what) {
        for (std::size_t i = 0; i < base.size(); ++i) ASSERT_NE(base[i], other[i]) << what;
    };
    expect_unrelated(normals(counting_stream(1), 1, 5, 0, 640), "key");
    expect_unrelated(normals(counting_stream(), 2, 5, 0, 640), "epoch");
    expect_unrelated(normals(counting_stream(), 5, 1, 0, 640), "epoch and round exchanged");
    expect_unrelated(normals(counting_stream(), 1, 6, 0, 640), "round");
    expect_unrelated(normals(counting_stream(), 1, 5 + (std::uint64_t{1} << 32), 0, 640),
                     "round beyond 32 bits");
    expect_unrelated(normals(counting_stream(), 1, 5, 64, 640), "coordinate");
}

TEST(NormalStream, AddressesItDoesNotHaveAreRefused) {
    const auto stream = counting_stream();
    std::vector<double> out(64);
    const std::uint64_t end = std::uint64_t{1} << 35;
    EXPECT_THROW(stream.fill(0, 0, 1, out), Error);
    EXPECT_THROW(stream.fill(0, 0, 32, out), Error);
    EXPECT_THROW(stream.fill(0, 0, end, out), Error);
    EXPECT_THROW(stream.fill(0, 0, ~std::uint64_t{0} - 63, out), Error);
    EXPECT_NO_THROW(stream.fill(0, 0, end - 64, out));
    const std::vector<std::uint64_t> words(64);
    EXPECT_THROW(normals_from_bits(std::span(words).first(32), std::span(out).first(32)), Error);
    EXPECT_THROW(normals_from_bits(words, std::span(out).first(32)), Error);
}

}  // namespace
}  // namespace sotto
