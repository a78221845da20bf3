#include "noise/keystream.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <vector>

#include "trust/memory_search.hpp"

namespace sotto {
namespace {

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
