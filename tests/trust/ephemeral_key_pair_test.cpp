#include "sotto/trust/ephemeral_key_pair.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <array>

namespace sotto {
namespace {

TEST(EphemeralKeyPair, EveryPairIsNewAndItsPublicKeyBelongsToItsSecret) {
    const EphemeralKeyPair first;
    const EphemeralKeyPair second;
    EXPECT_FALSE(std::ranges::equal(first.public_key(), second.public_key()));
    EXPECT_FALSE(first.secret_key() == second.secret_key());
    std::array<std::uint8_t, 32> expected{};
    ASSERT_EQ(0, crypto_scalarmult_base(expected.data(), first.secret_key().bytes().data()));
    EXPECT_TRUE(std::ranges::equal(first.public_key(), expected));
}

}  // namespace
}  // namespace sotto
