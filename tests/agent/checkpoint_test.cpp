#include "sotto/agent/checkpoint.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

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
    checkpoint.model = Eigen::VectorXd::LinSpaced(50, -1, 1);
    checkpoint.spent = Eigen::Vector2d(0.25, 0.5);
    checkpoint.own_options = {{"clip-norm", "0.5"}, {"epsilon", "3"}};
    return checkpoint;
}

KeyRing ring_of_two() {
    KeyRing ring(4);
    ring.add(1, SecretKey::random());
    ring.add(6, SecretKey::random());
    return ring;
}

const Digest plan = [] {
    Digest digest{};
    digest.fill(1);
    return digest;
}();

TEST(Checkpoint, ComesBackAsItWasWritten) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path("agent");
    Checkpoint written = example();
    written.seeds = "sealed";
    const Digest digest = write_checkpoint(file, written);
    const StoredCheckpoint stored = read_checkpoint(file);
    const Checkpoint& read = stored.checkpoint;
    EXPECT_EQ(stored.digest, digest);
    EXPECT_EQ(read.run, written.run);
    EXPECT_EQ(read.agent, written.agent);
    EXPECT_EQ(read.round, written.round);
    EXPECT_EQ(read.phase_round, written.phase_round);
    EXPECT_EQ(read.key_epoch, written.key_epoch);
    EXPECT_EQ(read.batch_seed, written.batch_seed);
    EXPECT_EQ(read.records, written.records);
    EXPECT_EQ(read.model, written.model);
    EXPECT_EQ(read.spent, written.spent);
    EXPECT_EQ(read.seeds, written.seeds);
    EXPECT_EQ(read.own_options, written.own_options);
}

TEST(Checkpoint, OfAnOlderVersionHasNoOptions) {
    const TemporaryFolder folder;
    Checkpoint older = example();
    older.own_options.reset();
    (void)write_checkpoint(folder.path("agent"), older);
    EXPECT_EQ(read_file(folder.path("agent"))[8], 1);  // as version 1 wrote it
    const Checkpoint read = read_checkpoint(folder.path("agent")).checkpoint;
    EXPECT_FALSE(read.own_options);
    EXPECT_EQ(read.spent, older.spent);
    // None at all are something else than none known.
    older.own_options.emplace();
    (void)write_checkpoint(folder.path("agent"), older);
    EXPECT_TRUE(read_checkpoint(folder.path("agent")).checkpoint.own_options);
}

TEST(Checkpoint, IsRefusedWithAnyByteChangedOrMissing) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path("agent");
    (void)write_checkpoint(file, example());
    const std::string bytes = read_file(file);
    const auto refused = [&](const std::string& content) {
        std::ofstream(file, std::ios::binary) << content;
        EXPECT_THROW((void)read_checkpoint(file), DataError);
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

TEST(SavedSeeds, OpenForTheirIdentityAndCheckpointOnly) {
    const Identity own = Identity::generate(), other = Identity::generate();
    const KeyRing ring = ring_of_two();
    Checkpoint checkpoint = example();
    checkpoint.seeds = seal_seeds_for(own, ring, checkpoint, plan);
    const KeyRing opened = open_seeds_of(own, checkpoint, plan, 4);
    EXPECT_EQ(opened.agent(), 4);
    EXPECT_EQ(opened.groups(), ring.groups());
    for (const int group : ring.groups()) EXPECT_EQ(opened.seed(group), ring.seed(group));

    EXPECT_THROW((void)open_seeds_of(other, checkpoint, plan, 4), CryptoError);
    EXPECT_THROW((void)open_seeds_of(own, checkpoint, Digest{}, 4), CryptoError);
    const auto with = [&](auto change) {
        Checkpoint changed = checkpoint;
        change(changed);
        EXPECT_THROW((void)open_seeds_of(own, changed, plan, 4), CryptoError);
    };
    with([](Checkpoint& c) { c.round += 1; });
    with([](Checkpoint& c) { c.key_epoch += 1; });
    with([](Checkpoint& c) { c.phase_round = 0; });
    with([](Checkpoint& c) { c.agent = 11; });
    with([](Checkpoint& c) { c.model(3) = 0; });
    with([](Checkpoint& c) { c.run[0] ^= 1; });
    with([](Checkpoint& c) { c.seeds.back() = static_cast<char>(c.seeds.back() ^ 1); });
    with([](Checkpoint& c) { c.seeds.clear(); });
    with([](Checkpoint& c) { c.own_options->at("epsilon") = "300"; });
    with([](Checkpoint& c) { c.own_options.reset(); });
}

TEST(SavedSeeds, AreNotInTheFileInClear) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path("agent");
    const Identity own = Identity::generate();
    const KeyRing ring = ring_of_two();
    Checkpoint checkpoint = example();
    checkpoint.seeds = seal_seeds_for(own, ring, checkpoint, plan);
    (void)write_checkpoint(file, checkpoint);
    const std::string bytes = read_file(file);
    for (const int group : ring.groups()) {
        const auto seed = ring.seed(group).bytes();
        for (std::size_t at = 0; at + 8 <= seed.size(); ++at)
            EXPECT_EQ(bytes.find(std::string_view(reinterpret_cast<const char*>(&seed[at]), 8)),
                      std::string::npos);
    }
}

}  // namespace
}  // namespace sotto
