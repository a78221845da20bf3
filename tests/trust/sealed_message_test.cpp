#include "sotto/trust/sealed_message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

class Sealed : public ::testing::Test {
  protected:
    SecretKey secret_ = SecretKey::random();
    std::vector<std::uint8_t> content_ = std::vector<std::uint8_t>(50, 9);
    std::string sealed_ = seal(secret_, SealPurpose::share, 2, 5, content_);
    void refused(const SecretKey& secret,
                 SealPurpose purpose,
                 int sender,
                 int recipient,
                 std::string_view sealed) {
        const std::string message = message_of<CryptoError>(
            [&] { (void)open_sealed(secret, purpose, sender, recipient, sealed); });
        EXPECT_TRUE(contains(message, "agent " + std::to_string(sender))) << message;
    }
};

TEST_F(Sealed, OpensToItsContentAndShowsNothingOfIt) {
    const SecretBytes opened = open_sealed(secret_, SealPurpose::share, 2, 5, sealed_);
    EXPECT_TRUE(std::ranges::equal(opened.span(), content_));
    EXPECT_EQ(sealed_.size(), content_.size() + 40);
    EXPECT_EQ(sealed_.find(std::string(4, 9)), std::string::npos);
    EXPECT_NE(seal(secret_, SealPurpose::share, 2, 5, content_), sealed_) << "a fresh nonce";
}

TEST_F(Sealed, OpensWithItsPairPurposeAndDirectionOnly) {
    refused(SecretKey::random(), SealPurpose::share, 2, 5, sealed_);
    refused(secret_, SealPurpose::seeds, 2, 5, sealed_);
    refused(secret_, SealPurpose::all_shares, 2, 5, sealed_);
    refused(secret_, SealPurpose::share, 5, 2, sealed_);
}

TEST_F(Sealed, DoesNotOpenWhenChangedCutOrExtended) {
    for (std::size_t i = 0; i < sealed_.size(); ++i) {
        std::string changed = sealed_;
        changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
        refused(secret_, SealPurpose::share, 2, 5, changed);
        refused(secret_, SealPurpose::share, 2, 5, sealed_.substr(0, i));
    }
    refused(secret_, SealPurpose::share, 2, 5, sealed_ + '\0');
}

}  // namespace
}  // namespace sotto
