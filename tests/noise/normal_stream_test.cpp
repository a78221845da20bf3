#include "noise/normal_stream.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "noise/stream_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "trust/memory_search.hpp"

namespace sotto {
namespace {

using test::chacha20_block;
using test::chacha20_words;
using test::ChachaKey;
using test::ChachaNonce;
using test::counting_key;
using test::counting_stream;
using test::expect_close_to_reference;
using test::ForcedLevel;
using test::same_bits;

std::string hex(std::span<const std::uint8_t> bytes) { return to_hex(bytes); }

std::vector<double> normals(const NormalStream& stream,
                            std::uint32_t epoch,
                            std::uint64_t round,
                            std::uint64_t first,
                            std::size_t count) {
    std::vector<double> out(count);
    stream.fill(epoch, round, first, out);
    return out;
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
        (void)normals_from_bits(words, expected);
        EXPECT_TRUE(same_bits(normals(counting_stream(), epoch, round, 64 * block, expected.size()),
                              expected))
            << "block " << block;
    }
    const auto words =
        chacha20_words(counting_key(), static_cast<std::uint32_t>(8 * last_block), nonce, 64);
    std::vector<double> expected(64);
    (void)normals_from_bits(words, expected);
    EXPECT_TRUE(same_bits(normals(counting_stream(), epoch, round, 64 * last_block, 64), expected));
    // Every byte of the round counts.
    const ChachaNonce wide{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const auto wide_words = chacha20_words(counting_key(), 0, wide, 64);
    (void)normals_from_bits(wide_words, expected);
    EXPECT_TRUE(
        same_bits(normals(counting_stream(), 0x04030201, 0x0c0b0a0908070605, 0, 64), expected));
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
    EXPECT_EQ(hex(digest), "f5ea1d29efc673393ecab5afa6e08cac9aa98a97ef5ebf062a46f50d4760c8b8");
}

TEST(NormalStream, EveryLevelGivesTheSameBits) {
    const auto expected = normals(counting_stream(), 3, 4, 640, 200'003);
    for (const auto& level : simd_levels()) {
        const ForcedLevel forced(level);
        EXPECT_TRUE(same_bits(normals(counting_stream(), 3, 4, 640, 200'003), expected)) << level;
    }
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
}

using Bytes = std::vector<std::uint8_t>;

std::array<std::uint8_t, Keystream::key_bytes> key_of_the_standard() {
    std::array<std::uint8_t, Keystream::key_bytes> key{};
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
    return key;
}

constexpr std::array<std::uint8_t, Keystream::nonce_bytes> nonce{0, 0, 0, 0, 0, 0, 0, 0x4a};

/// Of one keystream, asked for in pieces.
Bytes made(std::uint32_t count, std::size_t total, std::size_t piece) {
    const auto key = key_of_the_standard();
    Keystream keystream(key, nonce, count, total);
    Bytes all(total, 0xff);
    for (std::size_t at = 0; at < total; at += piece)
        keystream.next(std::span(all).subspan(at, std::min(piece, total - at)));
    return all;
}

/// libsodium's, in one call.
Bytes expected(std::uint32_t count, std::size_t total) {
    const auto key = key_of_the_standard();
    Bytes all(total);
    crypto_stream_chacha20_ietf_xor_ic(
        all.data(), all.data(), total, nonce.data(), count, key.data());
    return all;
}

TEST(Keystream, BeginsAsInTheStandard) {
    // RFC 8439, 2.4.2: the first bytes of its keystream.
    const Bytes standard{0x22,
                         0x4f,
                         0x51,
                         0xf3,
                         0x40,
                         0x1b,
                         0xd9,
                         0xe1,
                         0x2f,
                         0xde,
                         0x27,
                         0x6f,
                         0xb8,
                         0x63,
                         0x1d,
                         0xed};
    for (const std::size_t total : {std::size_t{64}, std::size_t{1} << 20}) {
        Bytes first = made(1, total, 4096);
        first.resize(standard.size());
        EXPECT_EQ(first, standard);
    }
}

TEST(Keystream, HasTheSameBytesWhateverMakesIt) {
    for (const std::uint32_t count : {0U, 7U, 0xfffff000U})
        for (const std::size_t total : {64, 6400, 16384, 100000})
            for (const std::size_t piece : {64, 4096, 16384}) {
                SCOPED_TRACE(total);
                EXPECT_EQ(made(count, total, piece), expected(count, total));
            }
}

TEST(Keystream, LeavesNoKeyBehind) {
    const test::HiddenKey hidden(12);
    Bytes all(std::size_t{1} << 18);
    hidden.use([&](const auto& own) {
        Keystream(own, nonce, 0, all.size()).next(all);
        EXPECT_GE(hidden.found(), 1);  // it would be noticed
    });
    EXPECT_EQ(hidden.found(), 0);
}

}  // namespace
}  // namespace sotto
