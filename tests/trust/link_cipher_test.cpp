#include "trust/link_cipher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "sotto/core/error.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes message_of(std::size_t size, std::uint8_t first = 3) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(first + 7 * i);
    return bytes;
}

Bytes seal(LinkCipher& cipher, const ChunkAddress& address, const Bytes& message) {
    Bytes sealed(message.size() + LinkCipher::tag_size);
    cipher.seal(address, message, sealed);
    return sealed;
}

Bytes open(const LinkCipher& cipher, const ChunkAddress& address, const Bytes& sealed) {
    Bytes message(sealed.size() - LinkCipher::tag_size);
    cipher.open(address, sealed, message);
    return message;
}

std::string why_not_opened(const LinkCipher& cipher,
                           const ChunkAddress& address,
                           const Bytes& sealed) {
    try {
        (void)open(cipher, address, sealed);
    } catch (const CryptoError& error) {
        EXPECT_EQ(error.exit_code(), ExitCode::network);
        return error.what();
    }
    return "it opened";
}

class LinkCipherTest : public testing::TestWithParam<AeadCipher> {
  protected:
    void SetUp() override {
        if (GetParam() == AeadCipher::aes256_gcm && !has_aes256_gcm())
            GTEST_SKIP() << "this processor does not compute AES";
    }
    LinkCipher link(int from, int to, std::uint32_t epoch = 0) {
        return {secrets_[static_cast<std::size_t>(from)], to, epoch, LinkUse::exchange, GetParam()};
    }
    std::vector<PairSecrets> secrets_ = test::pair_secrets(8);
};

TEST_P(LinkCipherTest, OpensWhatThePeerSealedInBothDirectionsAndAllSizes) {
    LinkCipher low = link(3, 7);
    LinkCipher high = link(7, 3);
    std::int64_t round = 0;
    for (const std::size_t size : {0UL, 1UL, 8UL, 63UL, 64UL, 65UL, 1000UL, 131072UL}) {
        const Bytes message = message_of(size);
        EXPECT_EQ(open(high, {round, 0, 0}, seal(low, {round, 0, 0}, message)), message);
        EXPECT_EQ(open(low, {round, 0, 0}, seal(high, {round, 0, 0}, message)), message);
        ++round;
    }
}

TEST_P(LinkCipherTest, WorksInPlace) {
    LinkCipher low = link(3, 7);
    const LinkCipher high = link(7, 3);
    const Bytes message = message_of(1000);
    Bytes buffer = message;
    buffer.resize(message.size() + LinkCipher::tag_size);
    const std::span<std::uint8_t> whole(buffer);
    low.seal({0, 0, 0}, whole.first(message.size()), whole);
    EXPECT_FALSE(std::equal(message.begin(), message.end(), buffer.begin()));
    high.open({0, 0, 0}, whole, whole.first(message.size()));
    EXPECT_TRUE(std::equal(message.begin(), message.end(), buffer.begin()));
}

TEST_P(LinkCipherTest, RefusesEveryFlippedBitAndNamesTheEdgeAndTheRound) {
    LinkCipher low = link(3, 7);
    const LinkCipher high = link(7, 3);
    const ChunkAddress address{12, 0, 0};
    const Bytes sealed = seal(low, address, message_of(40));
    for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
        Bytes changed = sealed;
        changed[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
        const std::string why = why_not_opened(high, address, changed);
        EXPECT_NE(why.find("from agent 3 to agent 7, round 12"), std::string::npos) << why;
    }
    EXPECT_EQ(why_not_opened(high, address, sealed), "it opened");
}

TEST_P(LinkCipherTest, RefusesAMessageOfAnotherRoundStepChunkEdgeEpochOrRun) {
    const Bytes message = message_of(100);
    const ChunkAddress address{12, 1, 2};
    LinkCipher low = link(3, 7);
    const LinkCipher high = link(7, 3);
    const Bytes sealed = seal(low, address, message);
    EXPECT_EQ(why_not_opened(high, address, sealed), "it opened");
    for (const ChunkAddress other : {ChunkAddress{11, 1, 2}, {13, 1, 2}, {12, 0, 2}, {12, 1, 3}})
        EXPECT_NE(why_not_opened(high, other, sealed), "it opened");
    // Swapped between edges: from 5 instead of 3; meant for 6 instead of 7.
    EXPECT_NE(why_not_opened(link(7, 5), address, sealed), "it opened");
    EXPECT_NE(why_not_opened(link(6, 3), address, sealed), "it opened");
    // Sent back to its sender.
    EXPECT_NE(why_not_opened(low, address, sealed), "it opened");
    EXPECT_NE(why_not_opened(link(7, 3, 1), address, sealed), "it opened");
    auto other_run = test::pair_secrets(8, 2);
    EXPECT_NE(why_not_opened(
                  LinkCipher(other_run[7], 3, 0, LinkUse::exchange, GetParam()), address, sealed),
              "it opened");
    // Sent along the edge, not for evaluation.
    EXPECT_NE(why_not_opened(
                  LinkCipher(secrets_[7], 3, 0, LinkUse::collection, GetParam()), address, sealed),
              "it opened");
}

TEST_P(LinkCipherTest, GivesTheSameMessageAnotherCiphertextOnEveryEdgeRoundStepChunkAndEpoch) {
    const Bytes message = message_of(32);
    std::set<std::string> seen;
    std::size_t count = 0;
    for (int from = 0; from < 4; ++from)
        for (int to = 0; to < 4; ++to)
            for (const std::uint32_t epoch : {0U, 1U, 0xffffffffU}) {
                if (from == to) continue;
                LinkCipher cipher = link(from, to, epoch);
                for (std::int64_t round : {0, 1})
                    for (std::int64_t step : {0, 1})
                        for (std::int64_t chunk : {0, 1}) {
                            const Bytes sealed = seal(cipher, {round, step, chunk}, message);
                            seen.insert(std::string(sealed.begin(), sealed.end()));
                            ++count;
                        }
            }
    EXPECT_EQ(seen.size(), count);
}

TEST_P(LinkCipherTest, NeverUsesANonceTwice) {
    LinkCipher cipher = link(3, 7);
    const Bytes message = message_of(10);
    (void)seal(cipher, {5, 1, 1}, message);
    for (const ChunkAddress again :
         {ChunkAddress{5, 1, 1}, {5, 1, 0}, {5, 0, 9}, {4, 9, 9}, {0, 0, 0}})
        EXPECT_THROW((void)seal(cipher, again, message), CryptoError);
    (void)seal(cipher, {5, 1, 2}, message);
    (void)seal(cipher, {6, 0, 0}, message);
}

TEST_P(LinkCipherTest, RefusesAddressesThatTheNonceCannotHold) {
    LinkCipher cipher = link(3, 7);
    const Bytes message = message_of(10);
    constexpr std::int64_t one = 1;
    for (const ChunkAddress large : {ChunkAddress{one << 48, 0, 0},
                                     {0, one << 16, 0},
                                     {0, 0, one << 32},
                                     {-1, 0, 0},
                                     {0, -1, 0},
                                     {0, 0, -1}})
        EXPECT_THROW((void)seal(cipher, large, message), CryptoError);
    const ChunkAddress last{(one << 48) - 1, (one << 16) - 1, (one << 32) - 1};
    EXPECT_EQ(open(link(7, 3), last, seal(cipher, last, message)), message);
}

TEST_P(LinkCipherTest, RefusesBuffersOfTheWrongSize) {
    LinkCipher cipher = link(3, 7);
    Bytes sealed(26);
    EXPECT_THROW(cipher.seal({0, 0, 0}, message_of(9), sealed), Error);
    Bytes message(9);
    EXPECT_THROW(cipher.open({0, 0, 0}, sealed, message), Error);
}

INSTANTIATE_TEST_SUITE_P(Ciphers,
                         LinkCipherTest,
                         testing::Values(AeadCipher::chacha20_poly1305, AeadCipher::aes256_gcm));

TEST(LinkCipher, HasOtherKeysForEveryCipher) {
    if (!has_aes256_gcm()) GTEST_SKIP() << "this processor does not compute AES";
    auto secrets = test::pair_secrets(2);
    LinkCipher chacha(secrets[0], 1, 3, LinkUse::exchange, AeadCipher::chacha20_poly1305);
    LinkCipher aes(secrets[0], 1, 3, LinkUse::exchange, AeadCipher::aes256_gcm);
    const Bytes message = message_of(40);
    const SecretKey& shared = secrets[0].with(1);
    const auto by_hand = [&](const char(&context)[9], AeadCipher cipher) {
        Bytes sealed(message.size() + LinkCipher::tag_size);
        Aead(shared.derive(context, 6), cipher).seal(nonce_of({1, 2, 3}), message, sealed);
        return sealed;
    };
    EXPECT_EQ(seal(chacha, {1, 2, 3}, message), by_hand("sottolnk", AeadCipher::chacha20_poly1305));
    EXPECT_EQ(seal(aes, {1, 2, 3}, message), by_hand("sottolka", AeadCipher::aes256_gcm));
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
