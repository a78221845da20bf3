#include "sotto/agent/checkpoint_copy.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(CopyOfACheckpoint, OpensForItsIdentityAndAgentOnly) {
    const Identity own = Identity::generate();
    const CheckpointCopy copy{
        .checkpoint = std::string("a\0b", 3), .revealed = "rec", .phase = 2, .until = 40};
    const std::string sealed = seal_copy(own, 7, copy);
    EXPECT_LT(sealed.size(), copy.checkpoint.size() + 100);
    const CheckpointCopy opened = open_copy(own, 7, sealed);
    EXPECT_EQ(opened.checkpoint, copy.checkpoint);
    EXPECT_EQ(opened.revealed, "rec");
    EXPECT_EQ(opened.phase, 2);
    EXPECT_EQ(opened.until, 40);
    EXPECT_THROW((void)open_copy(own, 8, sealed), CryptoError);
    EXPECT_THROW((void)open_copy(Identity::generate(), 7, sealed), CryptoError);
    for (std::size_t i = 0; i < sealed.size(); ++i) {
        std::string changed = sealed;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_THROW((void)open_copy(own, 7, changed), CryptoError) << i;
        EXPECT_THROW((void)open_copy(own, 7, sealed.substr(0, i)), CryptoError) << i;
    }
}

TEST(CopyOfACheckpoint, ShowsNothingOfIt) {
    const Identity own = Identity::generate();
    const CheckpointCopy copy{.checkpoint = std::string(64, 'x'),
                              .revealed = std::string(64, 'x'),
                              .phase = 0,
                              .until = 1};
    const std::string sealed = seal_copy(own, 7, copy);
    EXPECT_EQ(sealed.find("xxxx"), std::string::npos);
    EXPECT_NE(seal_copy(own, 7, copy), sealed);
}

}  // namespace
}  // namespace sotto
