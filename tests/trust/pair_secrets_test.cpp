#include "trust/pair_secrets.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

constexpr int agents = 4;

class PairSecretsTest : public ::testing::Test {
  protected:
    PairSecretsTest() {
        ensure_sodium();
        for (std::size_t u = 0; u < keys_.size(); ++u)
            crypto_scalarmult_base(keys_[u].data(), own_secret(static_cast<int>(u)).bytes().data());
        transcript_[5] = 9;
    }
    static SecretKey own_secret(int agent) {
        return SecretKey::from_noise_seed(3, "test.own", static_cast<std::uint64_t>(agent));
    }
    [[nodiscard]] PairSecrets secrets_of(int agent) const {
        return PairSecrets(agent,
                           transcript_,
                           own_secret(agent),
                           std::make_shared<const std::vector<PublicKey>>(keys_));
    }
    std::vector<PublicKey> keys_ = std::vector<PublicKey>(agents);
    Digest transcript_{};
};

TEST_F(PairSecretsTest, AreTheSameAtBothEndsAndDifferFromPairToPair) {
    std::vector<SecretKey> seen;
    for (int u = 0; u < agents; ++u)
        for (int v = 0; v < u; ++v) {
            auto of_u = secrets_of(u);
            auto of_v = secrets_of(v);
            EXPECT_EQ(of_u.with(v), of_v.with(u));
            for (const SecretKey& other : seen) EXPECT_FALSE(of_u.with(v) == other);
            seen.push_back(of_u.with(v).clone());
        }
}

TEST_F(PairSecretsTest, AreTheHashOfTheSharedPointTheTranscriptAndBothNumbers) {
    std::array<std::uint8_t, 32> shared{}, digest{};
    ASSERT_EQ(crypto_scalarmult(shared.data(), own_secret(3).bytes().data(), keys_[1].data()), 0);
    std::string text = "sotto.pair-secret.v1";
    text.append(transcript_.begin(), transcript_.end());
    text.append({1, 0, 0, 0, 3, 0, 0, 0});
    crypto_generichash(digest.data(),
                       digest.size(),
                       reinterpret_cast<const unsigned char*>(text.data()),
                       text.size(),
                       shared.data(),
                       shared.size());
    EXPECT_EQ(secrets_of(3).with(1), SecretKey::from_bytes(digest));
}

TEST_F(PairSecretsTest, ChangeWithTheTranscript) {
    const SecretKey before = secrets_of(0).with(1).clone();
    transcript_[31] ^= 1;
    EXPECT_FALSE(secrets_of(0).with(1) == before);
}

TEST_F(PairSecretsTest, AreSharedWithOtherAgentsOnly) {
    auto own = secrets_of(2);
    EXPECT_EQ(own.agent(), 2);
    EXPECT_EQ(own.agents(), agents);
    for (const int nobody : {-1, 2, agents})
        EXPECT_TRUE(contains(message_of<CryptoError>([&] { (void)own.with(nobody); }),
                             "agent 2 shares no secret with agent " + std::to_string(nobody)));
}

TEST_F(PairSecretsTest, RefuseAKeyWhoseSecretEverybodyKnows) {
    keys_[1] = {};  // a point of small order
    auto own = secrets_of(0);
    EXPECT_TRUE(
        contains(message_of<CryptoError>([&] { (void)own.with(1); }), "public key of agent 1"));
    EXPECT_NO_THROW((void)own.with(2));
}

}  // namespace
}  // namespace sotto
