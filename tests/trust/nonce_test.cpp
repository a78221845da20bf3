#include "trust/nonce.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

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
