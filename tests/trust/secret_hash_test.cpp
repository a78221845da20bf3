#include "trust/secret_hash.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <array>
#include <string>

namespace sotto {
namespace {

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
