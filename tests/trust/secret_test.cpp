#include "trust/secret.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"

namespace sotto {
namespace {

std::vector<std::uint8_t> copy_of(const SecretKey& key) {
    return {key.bytes().begin(), key.bytes().end()};
}

TEST(SecretKey, RandomKeysDiffer) {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) seen.insert(to_hex(SecretKey::random().bytes()));
    EXPECT_EQ(seen.size(), 1000U);
}

TEST(SecretKey, ManyThousandLiveKeysAreDistinctAndKeepTheirBytes) {
    std::vector<SecretKey> keys;
    for (std::uint64_t i = 0; i < 50'000; ++i)
        keys.push_back(SecretKey::from_noise_seed(1, "many", i));
    // Every second one is released, so that its place is used again.
    std::vector<SecretKey> kept;
    for (std::size_t i = 0; i < keys.size(); i += 2) kept.push_back(std::move(keys[i]));
    keys.clear();
    for (std::uint64_t i = 0; i < 25'000; ++i)
        keys.push_back(SecretKey::from_noise_seed(2, "many", i));
    for (std::uint64_t i = 0; i < 25'000; ++i) {
        ASSERT_EQ(kept[i], SecretKey::from_noise_seed(1, "many", 2 * i));
        ASSERT_EQ(keys[i], SecretKey::from_noise_seed(2, "many", i));
    }
}

TEST(SecretKey, ASeedGivesTheSameKeyForTheSamePurposeAndIndexOnly) {
    const auto key = SecretKey::from_noise_seed(7, "purpose", 3);
    EXPECT_EQ(key, SecretKey::from_noise_seed(7, "purpose", 3));
    EXPECT_FALSE(key == SecretKey::from_noise_seed(8, "purpose", 3));
    EXPECT_FALSE(key == SecretKey::from_noise_seed(7, "purposf", 3));
    EXPECT_FALSE(key == SecretKey::from_noise_seed(7, "purpose", 4));
    EXPECT_FALSE(key == SecretKey::from_noise_seed(3, "purpose", 7));
}

TEST(SecretKey, ASeedIsHashedAsLengthPurposeSeedIndex) {
    const std::vector<std::uint8_t> message{2, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 5, 1, 0,
                                            0, 0, 0, 0, 0, 9, 0, 0, 0,   0,   0, 0, 0};
    std::vector<std::uint8_t> expected(SecretKey::size);
    crypto_generichash(
        expected.data(), expected.size(), message.data(), message.size(), nullptr, 0);
    EXPECT_EQ(copy_of(SecretKey::from_noise_seed(0x105, "ab", 9)), expected);
}

TEST(SecretKey, DerivedKeysAreThoseOfTheKdfAndDifferByContextAndNumber) {
    const auto master = SecretKey::from_noise_seed(1, "master", 0);
    std::vector<std::uint8_t> expected(SecretKey::size);
    crypto_kdf_derive_from_key(
        expected.data(), expected.size(), 12, "sottostr", master.bytes().data());
    EXPECT_EQ(copy_of(master.derive("sottostr", 12)), expected);
    EXPECT_FALSE(master.derive("sottostr", 12) == master.derive("sottostr", 13));
    EXPECT_FALSE(master.derive("sottostr", 12) == master.derive("sottosum", 12));
    EXPECT_FALSE(master.derive("sottostr", 0) == master);
}

TEST(SecretKey, AMovedKeyIsEmptyAndAnEmptyKeyCannotBeUsed) {
    auto key = SecretKey::from_noise_seed(1, "move", 0);
    const auto copy = key.clone();
    EXPECT_EQ(copy, key);
    EXPECT_NE(copy.bytes().data(), key.bytes().data());
    SecretKey moved = std::move(key);
    EXPECT_EQ(moved, copy);
    EXPECT_THROW((void)key.bytes(), CryptoError);  // NOLINT(bugprone-use-after-move)
    EXPECT_THROW((void)key.clone(), CryptoError);
    EXPECT_THROW((void)key.derive("sottostr", 0), CryptoError);
    EXPECT_THROW((void)(key == copy), CryptoError);
    key = std::move(moved);
    EXPECT_EQ(key, copy);
}

TEST(SecretKey, AReleasedKeyIsWiped) {
    const std::uint8_t* place = nullptr;
    std::vector<std::uint8_t> before;
    {
        const auto key = SecretKey::random();
        place = key.bytes().data();
        before = copy_of(key);
    }
    // The page stays mapped; what used to be the key is zeros and a link between free places.
    EXPECT_TRUE(std::all_of(place + 8, place + 32, [](std::uint8_t b) { return b == 0; }));
    EXPECT_NE(before, std::vector<std::uint8_t>(place, place + 32));
}

TEST(SecretKey, BytesOfAnotherLengthAreRefused) {
    const std::vector<std::uint8_t> bytes(33, 1);
    EXPECT_THROW((void)SecretKey::from_bytes(bytes), CryptoError);
    EXPECT_THROW((void)SecretKey::from_bytes(std::span(bytes).first(31)), CryptoError);
    EXPECT_NO_THROW((void)SecretKey::from_bytes(std::span(bytes).first(32)));
}

TEST(SecretBytes, StartAsZerosAndMoveWithTheirContent) {
    SecretBytes bytes(5);
    EXPECT_TRUE(std::ranges::equal(bytes.span(), std::vector<std::uint8_t>(5, 0)));
    bytes.span()[3] = 7;
    const SecretBytes moved = std::move(bytes);
    EXPECT_TRUE(std::ranges::equal(moved.span(), std::vector<std::uint8_t>{0, 0, 0, 7, 0}));
}

/// BLAKE2b-256 of all bytes at once.
SecretKey at_once(const std::string& key, const std::string& bytes) {
    std::array<std::uint8_t, 32> digest{};
    crypto_generichash(digest.data(),
                       digest.size(),
                       reinterpret_cast<const unsigned char*>(bytes.data()),
                       bytes.size(),
                       reinterpret_cast<const unsigned char*>(key.data()),
                       key.size());
    return SecretKey::from_bytes(digest);
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(SecretHash, IsBlake2bOfItsPurposeAndWhatFollows) {
    const std::string key(32, 'k');
    SecretHash hash("test.v1", bytes_of(key));
    hash.absorb(bytes_of("some"));
    hash.absorb(0x01020304);
    hash.absorb(bytes_of("more"));
    EXPECT_EQ(hash.finish(), at_once(key, "test.v1some\x04\x03\x02\x01more"));
}

TEST(SecretHash, NeedsNoKey) {
    SecretHash hash("test.v1", {});
    hash.absorb(-1);
    EXPECT_EQ(hash.finish(), at_once("", "test.v1\xff\xff\xff\xff"));
}

}  // namespace
}  // namespace sotto
