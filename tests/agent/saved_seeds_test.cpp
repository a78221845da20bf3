#include "sotto/agent/saved_seeds.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string_view>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {
namespace {

using test::TemporaryFolder;

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
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path("agent-12.seeds");
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

TEST_F(SavedSeeds, ComeBackFromTheirFileWhichOnlyItsOwnerReads) {
    write_saved_seeds(file, sealed);
    EXPECT_EQ(read_saved_seeds(file), sealed);
    EXPECT_EQ(std::filesystem::status(file).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(SavedSeeds, AreNotInTheirFileInClear) {
    write_saved_seeds(file, sealed);
    const std::string bytes = read_file(file);
    for (const int group : ring.groups()) {
        const auto seed = ring.seed(group).bytes();
        for (std::size_t at = 0; at + 8 <= seed.size(); ++at)
            EXPECT_EQ(bytes.find(std::string_view(reinterpret_cast<const char*>(&seed[at]), 8)),
                      std::string::npos);
    }
}

TEST_F(SavedSeeds, OfAnotherKindAreNamed) {
    EXPECT_THROW((void)read_saved_seeds(file), DataError);
    for (const std::string content :
         {"", "sottosds", "sottosds\x02\0\0\0sealed", "something else"}) {
        write_file_atomically(file, content);
        EXPECT_TRUE(test::contains(
            test::message_of<DataError>([&] { (void)read_saved_seeds(file); }), file.string()));
    }
}

}  // namespace
}  // namespace sotto
