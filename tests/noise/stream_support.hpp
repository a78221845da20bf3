#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "noise/gaussian_simd.hpp"
#include "noise/normal_stream.hpp"

namespace sotto::test {

using ChachaKey = std::array<std::uint8_t, 32>;
using ChachaNonce = std::array<std::uint8_t, 12>;

/// One 64-byte block of ChaCha20 written directly from RFC 8439 section 2.3.
inline std::array<std::uint8_t, 64> chacha20_block(const ChachaKey& key,
                                                   std::uint32_t counter,
                                                   const ChachaNonce& nonce) {
    const auto word = [](const std::uint8_t* at) {
        return std::uint32_t{at[0]} | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 |
               std::uint32_t{at[3]} << 24;
    };
    std::array<std::uint32_t, 16> start{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (std::size_t i = 0; i < 8; ++i) start[4 + i] = word(key.data() + 4 * i);
    start[12] = counter;
    for (std::size_t i = 0; i < 3; ++i) start[13 + i] = word(nonce.data() + 4 * i);
    auto s = start;
    const auto quarter = [&s](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
        s[a] += s[b], s[d] = std::rotl(s[d] ^ s[a], 16);
        s[c] += s[d], s[b] = std::rotl(s[b] ^ s[c], 12);
        s[a] += s[b], s[d] = std::rotl(s[d] ^ s[a], 8);
        s[c] += s[d], s[b] = std::rotl(s[b] ^ s[c], 7);
    };
    for (int i = 0; i < 10; ++i) {
        for (std::size_t c = 0; c < 4; ++c) quarter(c, 4 + c, 8 + c, 12 + c);
        for (std::size_t c = 0; c < 4; ++c)
            quarter(c, 4 + (c + 1) % 4, 8 + (c + 2) % 4, 12 + (c + 3) % 4);
    }
    std::array<std::uint8_t, 64> out{};
    for (std::size_t i = 0; i < 16; ++i)
        for (std::size_t b = 0; b < 4; ++b)
            out[4 * i + b] = static_cast<std::uint8_t>((s[i] + start[i]) >> (8 * b));
    return out;
}

/// `count` little-endian 64-bit words of keystream from a counter on. @param count multiple of 8.
inline std::vector<std::uint64_t> chacha20_words(const ChachaKey& key,
                                                 std::uint32_t counter,
                                                 const ChachaNonce& nonce,
                                                 std::size_t count) {
    std::vector<std::uint64_t> words;
    while (words.size() < count) {
        const auto bytes = chacha20_block(key, counter++, nonce);
        for (std::size_t i = 0; i < 8; ++i) {
            std::uint64_t word = 0;
            for (std::size_t b = 0; b < 8; ++b) word |= std::uint64_t{bytes[8 * i + b]} << (8 * b);
            words.push_back(word);
        }
    }
    return words;
}

/// Key bytes 0, 1, ..., 31 (that of RFC 8439), each moved by `shift`.
inline ChachaKey counting_key(int shift = 0) {
    ChachaKey key{};
    for (std::size_t i = 0; i < key.size(); ++i)
        key[i] = static_cast<std::uint8_t>(i + static_cast<std::size_t>(shift));
    return key;
}

inline NormalStream counting_stream(int shift = 0) {
    return NormalStream(SecretKey::from_bytes(counting_key(shift)));
}

inline bool same_bits(std::span<const double> a, std::span<const double> b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

/// Box-Muller of one pair in extended precision through the mathematical library: u1 less than
/// 1 - N 2^-76, rounded to a double (normals_from_bits), by `part` units of 2^-76.
inline std::pair<long double, long double> reference_pair(std::uint64_t first,
                                                          std::uint64_t second,
                                                          long double part = 0) {
    const double low =
        std::ldexp(static_cast<double>(((first & 0xFFF) << 12) | (second & 0xFFF)), -76);
    const double high =
        std::ldexp(static_cast<double>((std::uint64_t{1} << 52) - (first >> 12)), -52);
    const long double u1 = static_cast<long double>(high - low) - std::ldexp(part, -76);
    const long double u2 = std::ldexp(static_cast<long double>(second >> 12), -52);
    const long double radius = std::sqrt(-2 * std::log(u1));
    const long double angle = 2 * std::numbers::pi_v<long double> * u2;
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

inline void expect_close_to_reference(std::span<const std::uint64_t> words,
                                      std::span<const double> out) {
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

/// A SIMD level that ends with the scope.
class ForcedLevel {
  public:
    explicit ForcedLevel(const std::string& level) { force_simd_level(level); }
    ForcedLevel(const ForcedLevel&) = delete;
    ForcedLevel& operator=(const ForcedLevel&) = delete;
    ~ForcedLevel() { force_simd_level(""); }
};

}  // namespace sotto::test
