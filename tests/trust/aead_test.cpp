#include "trust/aead.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "sotto/core/error.hpp"
#include "trust/memory_search.hpp"

namespace sotto {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::array<std::uint8_t, aead_key_bytes> aead_key{3, 1, 4, 1, 5, 9, 2, 6};
constexpr std::array<std::uint8_t, aead_nonce_bytes> aead_nonce{2, 7, 1, 8};

Bytes any_message(std::size_t size) {
    Bytes message(size);
    for (std::size_t i = 0; i < size; ++i) message[i] = static_cast<std::uint8_t>(i * i + 7 * i);
    return message;
}

/// Sizes made by libsodium, at the border, and made by OpenSSL where there is one.
constexpr std::array<std::size_t, 7> sizes{0, 1, 511, 512, 513, 4096, 100003};

TEST(Aead, SealsWhatLibsodiumOpens) {
    for (const std::size_t size : sizes) {
        const Bytes message = any_message(size);
        Bytes sealed(size + aead_tag_bytes), opened(size);
        aead_seal(aead_key, aead_nonce, message, sealed);
        EXPECT_EQ(crypto_aead_chacha20poly1305_ietf_decrypt(opened.data(),
                                                            nullptr,
                                                            nullptr,
                                                            sealed.data(),
                                                            sealed.size(),
                                                            nullptr,
                                                            0,
                                                            aead_nonce.data(),
                                                            aead_key.data()),
                  0);
        EXPECT_EQ(opened, message);
    }
}

TEST(Aead, OpensWhatItSealedInPlaceToo) {
    for (const std::size_t size : sizes) {
        const Bytes message = any_message(size);
        Bytes apart(size + aead_tag_bytes), place = message;
        aead_seal(aead_key, aead_nonce, message, apart);
        place.resize(size + aead_tag_bytes);
        aead_seal(aead_key, aead_nonce, std::span(place).first(size), place);
        EXPECT_EQ(place, apart);
        EXPECT_TRUE(aead_open(aead_key, aead_nonce, place, std::span(place).first(size)));
        place.resize(size);
        EXPECT_EQ(place, message);
    }
}

TEST(Aead, RefusesEveryChange) {
    for (const std::size_t size : sizes) {
        Bytes sealed(size + aead_tag_bytes), opened(size);
        aead_seal(aead_key, aead_nonce, any_message(size), sealed);
        for (const std::size_t at : {std::size_t{0}, size / 2, size, sealed.size() - 1}) {
            Bytes changed = sealed;
            changed[at] ^= 0x10;
            EXPECT_FALSE(aead_open(aead_key, aead_nonce, changed, opened)) << size << " " << at;
        }
        auto other_nonce = aead_nonce;
        other_nonce[11] = 1;
        auto other_key = aead_key;
        other_key[31] = 1;
        EXPECT_FALSE(aead_open(aead_key, other_nonce, sealed, opened));
        EXPECT_FALSE(aead_open(other_key, aead_nonce, sealed, opened));
        EXPECT_TRUE(aead_open(aead_key, aead_nonce, sealed, opened));
    }
}

TEST(Aead, LeavesNoKeyBehind) {
    const test::HiddenKey hidden(11);
    const Bytes message = any_message(4096);
    Bytes sealed(message.size() + aead_tag_bytes), opened(message.size());
    hidden.use([&](const auto& own) {
        EXPECT_GE(hidden.found(), 1);  // it would be noticed
        aead_seal(own, aead_nonce, message, sealed);
        EXPECT_TRUE(aead_open(own, aead_nonce, sealed, opened));
        sealed[0] ^= 1;
        EXPECT_FALSE(aead_open(own, aead_nonce, sealed, opened));
    });
    EXPECT_EQ(hidden.found(), 0);
}

TEST(NonceOf, IsRoundStepAndChunkInLittleEndianBytes) {
    const std::array<std::uint8_t, 12> wanted{6, 5, 4, 3, 2, 1, 8, 7, 12, 11, 10, 9};
    EXPECT_EQ(nonce_of({0x010203040506, 0x0708, 0x090a0b0c}), wanted);
}

TEST(NonceOf, DiffersForDifferentAddresses) {
    std::set<std::array<std::uint8_t, 12>> seen;
    for (const std::int64_t round : {0, 1, 255, 256, 65536})
        for (const std::int64_t step : {0, 1, 255, 256})
            for (const std::int64_t chunk : {0, 1, 255, 256, 65536})
                EXPECT_TRUE(seen.insert(nonce_of({round, step, chunk})).second);
}

TEST(NonceOf, RefusesWhatItsBitsCannotHold) {
    EXPECT_NO_THROW((void)nonce_of({(1LL << 48) - 1, (1LL << 16) - 1, (1LL << 32) - 1}));
    EXPECT_THROW((void)nonce_of({1LL << 48, 0, 0}), CryptoError);
    EXPECT_THROW((void)nonce_of({0, 1LL << 16, 0}), CryptoError);
    EXPECT_THROW((void)nonce_of({0, 0, 1LL << 32}), CryptoError);
    for (const ChunkAddress& address :
         {ChunkAddress{-1, 0, 0}, ChunkAddress{0, -1, 0}, ChunkAddress{0, 0, -1}})
        EXPECT_THROW((void)nonce_of(address), CryptoError);
}

}  // namespace
}  // namespace sotto
