#include "trust/aead.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <vector>

#include "sotto/core/error.hpp"
#include "trust/memory_search.hpp"

namespace sotto {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::array<std::uint8_t, SecretKey::size> aead_key{3, 1, 4, 1, 5, 9, 2, 6};
constexpr std::array<std::uint8_t, aead_nonce_bytes> aead_nonce{2, 7, 1, 8};

Bytes any_message(std::size_t size) {
    Bytes message(size);
    for (std::size_t i = 0; i < size; ++i) message[i] = static_cast<std::uint8_t>(i * i + 7 * i);
    return message;
}

/// Sizes made by libsodium, at the border, and made by OpenSSL where there is one.
constexpr std::array<std::size_t, 10> sizes{0, 1, 511, 512, 513, 2047, 2048, 2049, 4096, 100003};

std::vector<AeadCipher> ciphers() {
    if (!has_aes256_gcm()) return {AeadCipher::chacha20_poly1305};
    return {AeadCipher::chacha20_poly1305, AeadCipher::aes256_gcm};
}

Aead aead(AeadCipher cipher, std::span<const std::uint8_t> key = aead_key) {
    return {SecretKey::from_bytes(key), cipher};
}

TEST(Aead, SealsWhatLibsodiumOpens) {
    for (const AeadCipher cipher : ciphers())
        for (const std::size_t size : sizes) {
            const Bytes message = any_message(size);
            Bytes sealed(size + aead_tag_bytes), opened(size);
            aead(cipher).seal(aead_nonce, message, sealed);
            const auto decrypt = cipher == AeadCipher::aes256_gcm
                                     ? crypto_aead_aes256gcm_decrypt
                                     : crypto_aead_chacha20poly1305_ietf_decrypt;
            EXPECT_EQ(decrypt(opened.data(),
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

// Test case 13 of McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B.
TEST(Aead, SealsAesAsPublished) {
    if (!has_aes256_gcm()) GTEST_SKIP() << "this processor does not compute AES";
    constexpr std::array<std::uint8_t, SecretKey::size> zero_key{};
    constexpr std::array<std::uint8_t, aead_nonce_bytes> zero_nonce{};
    const Bytes tag{0x53,
                    0x0f,
                    0x8a,
                    0xfb,
                    0xc7,
                    0x45,
                    0x36,
                    0xb9,
                    0xa9,
                    0x63,
                    0xb4,
                    0xf1,
                    0xc4,
                    0xcb,
                    0x73,
                    0x8b};
    Bytes sealed(aead_tag_bytes);
    aead(AeadCipher::aes256_gcm, zero_key).seal(zero_nonce, {}, sealed);
    EXPECT_EQ(sealed, tag);
}

TEST(Aead, OpensWhatItSealedInPlaceToo) {
    for (const AeadCipher cipher : ciphers())
        for (const std::size_t size : sizes) {
            const Bytes message = any_message(size);
            Bytes apart(size + aead_tag_bytes), place = message;
            const Aead own = aead(cipher);
            own.seal(aead_nonce, message, apart);
            place.resize(size + aead_tag_bytes);
            own.seal(aead_nonce, std::span(place).first(size), place);
            EXPECT_EQ(place, apart);
            EXPECT_TRUE(own.open(aead_nonce, place, std::span(place).first(size)));
            place.resize(size);
            EXPECT_EQ(place, message);
        }
}

TEST(Aead, RefusesEveryChange) {
    for (const AeadCipher cipher : ciphers())
        for (const std::size_t size : sizes) {
            const Aead own = aead(cipher);
            Bytes sealed(size + aead_tag_bytes), opened(size);
            own.seal(aead_nonce, any_message(size), sealed);
            for (const std::size_t at : {std::size_t{0}, size / 2, size, sealed.size() - 1}) {
                Bytes changed = sealed;
                changed[at] ^= 0x10;
                EXPECT_FALSE(own.open(aead_nonce, changed, opened)) << size << " " << at;
            }
            auto other_nonce = aead_nonce;
            other_nonce[11] = 1;
            auto other_key = aead_key;
            other_key[31] = 1;
            EXPECT_FALSE(own.open(other_nonce, sealed, opened));
            EXPECT_FALSE(aead(cipher, other_key).open(aead_nonce, sealed, opened));
            EXPECT_TRUE(own.open(aead_nonce, sealed, opened));
        }
}

TEST(Aead, LeavesNoKeyBehind) {
    const test::HiddenKey hidden(11);
    for (const AeadCipher cipher : ciphers())
        for (const std::size_t size : {std::size_t{100}, std::size_t{4096}}) {
            const Bytes message = any_message(size);
            Bytes sealed(message.size() + aead_tag_bytes), opened(message.size());
            hidden.use([&](const auto& key) {
                EXPECT_GE(hidden.found(), 1);  // it would be noticed
                const Aead own = aead(cipher, key);
                own.seal(aead_nonce, message, sealed);
                EXPECT_TRUE(own.open(aead_nonce, sealed, opened));
                sealed[0] ^= 1;
                EXPECT_FALSE(own.open(aead_nonce, sealed, opened));
            });
            EXPECT_EQ(hidden.found(), 0);
        }
}

}  // namespace
}  // namespace sotto
