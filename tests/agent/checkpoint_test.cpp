#include "agent/checkpoint.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string_view>

#include "core/files.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::TemporaryFolder;

Checkpoint example() {
    Checkpoint checkpoint;
    checkpoint.run.fill(7);
    checkpoint.agent = 12;
    checkpoint.round = 340;
    checkpoint.phase_round = 100;
    checkpoint.key_epoch = 3;
    checkpoint.batch_seed = 99;
    checkpoint.records = 1234;
    checkpoint.data.key.fill(5);
    checkpoint.data.value.fill(6);
    checkpoint.model = Eigen::VectorXd::LinSpaced(50, -1, 1);
    checkpoint.velocity = Eigen::VectorXd::LinSpaced(50, 2, 3);
    checkpoint.mean = Eigen::VectorXd::LinSpaced(50, 4, 5);
    checkpoint.anchor = Eigen::VectorXd::LinSpaced(50, 6, 7);
    checkpoint.moments = Eigen::VectorXd::LinSpaced(50, 8, 9);
    checkpoint.carried = Eigen::VectorXd::LinSpaced(50, 10, 11);
    checkpoint.direction = Eigen::VectorXd::LinSpaced(50, 12, 13);
    checkpoint.revealed = "{}\n";
    checkpoint.own_options = {{"clip-norm", "0.5"}, {"epsilon", "3"}};
    return checkpoint;
}

TEST(Checkpoint, ComesBackAsItWasWritten) {
    const Checkpoint written = example();
    const CheckpointBytes bytes(written);
    const StoredCheckpoint stored = checkpoint_from_bytes(bytes.text(), "a test");
    const Checkpoint& read = stored.checkpoint;
    EXPECT_EQ(stored.digest, bytes.digest());
    EXPECT_EQ(read.run, written.run);
    EXPECT_EQ(read.agent, written.agent);
    EXPECT_EQ(read.round, written.round);
    EXPECT_EQ(read.phase_round, written.phase_round);
    EXPECT_EQ(read.key_epoch, written.key_epoch);
    EXPECT_EQ(read.batch_seed, written.batch_seed);
    EXPECT_EQ(read.records, written.records);
    EXPECT_EQ(read.data.key, written.data.key);
    EXPECT_EQ(read.data.value, written.data.value);
    EXPECT_EQ(read.model, written.model);
    EXPECT_EQ(read.velocity, written.velocity);
    EXPECT_EQ(read.mean, written.mean);
    EXPECT_EQ(read.anchor, written.anchor);
    EXPECT_EQ(read.moments, written.moments);
    EXPECT_EQ(read.carried, written.carried);
    EXPECT_EQ(read.direction, written.direction);
    EXPECT_EQ(read.revealed, written.revealed);
    EXPECT_EQ(read.own_options, written.own_options);
}

TEST(Checkpoint, OfAnOlderVersionIsRefusedWithWhatToDo) {
    std::string bytes = CheckpointBytes(example()).text();
    for (const int version : {1, 2, 3, 4, 5, 6, 7, 9}) {
        bytes[8] = static_cast<char>(version);
        const std::string message =
            test::message_of<DataError>([&] { (void)checkpoint_from_bytes(bytes, "a test"); });
        EXPECT_TRUE(
            test::contains(message, "has version " + std::to_string(version) + " (allowed: 8)"));
        // Those had the sealed seeds inside, where they cannot be erased.
        EXPECT_EQ(message.find("hold the agent's seeds") != std::string::npos, version < 3)
            << message;
    }
}

TEST(Checkpoint, HasNoModelBeforeTheFirstRoundAndOneAfterwards) {
    Checkpoint first = example();
    first.round = first.phase_round = 0;
    EXPECT_THROW((void)checkpoint_from_bytes(CheckpointBytes(first).text(), "a test"), DataError);
    for (Eigen::VectorXd* vector : {&first.model,
                                    &first.velocity,
                                    &first.mean,
                                    &first.anchor,
                                    &first.moments,
                                    &first.carried,
                                    &first.direction})
        vector->resize(0);
    EXPECT_EQ(
        checkpoint_from_bytes(CheckpointBytes(first).text(), "a test").checkpoint.model.size(), 0);
    first.round = 1;
    EXPECT_THROW((void)checkpoint_from_bytes(CheckpointBytes(first).text(), "a test"), DataError);
}

TEST(Checkpoint, HasADigestOfItsContent) {
    const Digest digest = digest_of(example());
    EXPECT_EQ(digest_of(example()), digest);
    const auto with = [&](auto change) {
        Checkpoint changed = example();
        change(changed);
        EXPECT_NE(digest_of(changed), digest);
    };
    with([](Checkpoint& c) { c.run[0] ^= 1; });
    with([](Checkpoint& c) { c.agent += 1; });
    with([](Checkpoint& c) { c.round += 1; });
    with([](Checkpoint& c) { c.phase_round += 1; });
    with([](Checkpoint& c) { c.key_epoch += 1; });
    with([](Checkpoint& c) { c.batch_seed += 1; });
    with([](Checkpoint& c) { c.records += 1; });
    with([](Checkpoint& c) { c.data.key[3] ^= 1; });
    with([](Checkpoint& c) { c.data.value[3] ^= 1; });
    with([](Checkpoint& c) { c.model(3) = 0; });
    with([](Checkpoint& c) { c.anchor(3) = 0; });
    with([](Checkpoint& c) { c.moments(3) = 0; });
    with([](Checkpoint& c) { c.carried(3) = 0; });
    with([](Checkpoint& c) { c.direction(3) = 0; });
    with([](Checkpoint& c) { c.revealed += "{}\n"; });
    with([](Checkpoint& c) { c.own_options["epsilon"] = "300"; });
    with([](Checkpoint& c) { c.own_options.clear(); });
}

TEST(Checkpoint, IsRefusedWithAnyByteChangedOrMissing) {
    const std::string bytes = CheckpointBytes(example()).text();
    const auto refused = [&](const std::string& content) {
        EXPECT_THROW((void)checkpoint_from_bytes(content, "a test"), DataError);
    };
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 0x20);
        refused(changed);
    }
    for (std::size_t size = 0; size < bytes.size(); size += 7) refused(bytes.substr(0, size));
    refused(bytes + "x");
    refused("");
}

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

Checkpoint checkpoint_of_seeds() {
    Checkpoint checkpoint;
    checkpoint.agent = 12;
    checkpoint.round = 340;
    checkpoint.phase_round = 100;
    checkpoint.key_epoch = 3;
    checkpoint.model = Eigen::VectorXd::LinSpaced(50, -1, 1);
    checkpoint.own_options = {{"epsilon", "3"}};
    return checkpoint;
}

Digest plan_digest(std::uint8_t byte) {
    Digest digest{};
    digest.fill(byte);
    return digest;
}

class SavedSeeds : public ::testing::Test {
  protected:
    SavedSeeds() : ring(4) {
        ring.add(1, SecretKey::random());
        ring.add(6, SecretKey::random());
        ring.add_coins(SecretKey::random());
        sealed = seal_seeds_for(own, ring, checkpoint, plan);
    }
    void expect_closed(const Identity& identity,
                       std::string_view bytes,
                       const Checkpoint& of,
                       const Digest& with) const {
        EXPECT_THROW((void)open_seeds_of(identity, bytes, of, with, 4), CryptoError);
    }
    const Identity own = Identity::generate();
    const Checkpoint checkpoint = checkpoint_of_seeds();
    const Digest plan = plan_digest(1);
    KeyRing ring;
    std::string sealed;
};

TEST_F(SavedSeeds, OpenForTheirIdentityAndCheckpointOnly) {
    const KeyRing opened = open_seeds_of(own, sealed, checkpoint, plan, 4);
    EXPECT_EQ(opened.agent(), 4);
    EXPECT_EQ(opened.groups(), ring.groups());
    for (const int group : ring.groups()) EXPECT_EQ(opened.seed(group), ring.seed(group));
    EXPECT_EQ(opened.coins(), ring.coins());

    expect_closed(Identity::generate(), sealed, checkpoint, plan);
    expect_closed(own, sealed, checkpoint, plan_digest(2));
    expect_closed(own, {}, checkpoint, plan);
    for (std::size_t at = 0; at < sealed.size(); ++at) {
        std::string changed = sealed;
        changed[at] ^= 1;
        expect_closed(own, changed, checkpoint, plan);
    }
    const auto with = [&](auto change) {
        Checkpoint changed = checkpoint;
        change(changed);
        expect_closed(own, sealed, changed, plan);
    };
    with([](Checkpoint& c) { c.round += 1; });
    with([](Checkpoint& c) { c.key_epoch += 1; });
    with([](Checkpoint& c) { c.phase_round = 0; });
    with([](Checkpoint& c) { c.agent = 11; });
    with([](Checkpoint& c) { c.model(3) = 0; });
    with([](Checkpoint& c) { c.run[0] ^= 1; });
    with([](Checkpoint& c) { c.own_options.at("epsilon") = "300"; });
}

TEST_F(SavedSeeds, ComeBackAsTheyWereWritten) {
    EXPECT_EQ(sealed_seeds_from(saved_seeds_bytes(sealed), "a test"), sealed);
}

TEST_F(SavedSeeds, AreNotWrittenInClear) {
    const std::string bytes = saved_seeds_bytes(sealed);
    for (const int group : ring.groups()) {
        const auto seed = ring.seed(group).bytes();
        for (std::size_t at = 0; at + 8 <= seed.size(); ++at)
            EXPECT_EQ(bytes.find(std::string_view(reinterpret_cast<const char*>(&seed[at]), 8)),
                      std::string::npos);
    }
}

TEST_F(SavedSeeds, OfAnotherKindAreNamed) {
    for (const std::string content :
         {"", "sottosds", "sottosds\x02\0\0\0sealed", "something else"}) {
        EXPECT_TRUE(test::contains(test::message_of<DataError>(
                                       [&] { (void)sealed_seeds_from(content, "agent-12.seeds"); }),
                                   "agent-12.seeds"));
    }
}

}  // namespace
}  // namespace sotto
