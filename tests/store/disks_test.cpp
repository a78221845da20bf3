#include "store/disks.hpp"

#include "config/run_fixtures.hpp"
#include "fuzz/support.hpp"
#include "sotto/core/bytes.hpp"

namespace sotto {
namespace {

using test::message_of;

TEST(Keepers, AreOnTheNextDiskEvenly) {
    using Numbers = std::vector<int>;
    EXPECT_EQ(keepers_on({0}), Numbers{});
    EXPECT_EQ(keepers_on({0, 0, 0}), Numbers{});
    EXPECT_EQ(keepers_on({0, 0, 2, 2, 4, 4}), (Numbers{2, 3, 4, 5, 0, 1}));
    EXPECT_EQ(keepers_on({0, 1, 0, 1, 0}), (Numbers{1, 0, 3, 2, 1}));
    EXPECT_EQ(keepers_on({0, 0, 0, 3}), (Numbers{3, 3, 3, 0}));
}

class Disks : public ::testing::Test {
  protected:
    /// Of process 1 of three; the others say these words.
    std::vector<int> of(const std::vector<int>& words) const {
        fuzz::ScriptedNetwork network(3, 1, "", [&](int) {
            std::vector<std::string> said;
            for (const int word : words) {
                ByteWriter writer;
                writer.put(std::int32_t{word});
                said.push_back(writer.take());
            }
            return said;
        });
        return disks_of(folder.path("checkpoints"), network, "token");
    }
    test::TemporaryFolder folder;
};

TEST_F(Disks, AreOneWhereProcessesSeeEachOthersFiles) {
    EXPECT_EQ(of({0, 0, 0}), (std::vector{0, 1, 0}));
    std::ofstream(folder.path("checkpoints/disk-token-0")) << "\n";
    std::ofstream(folder.path("checkpoints/disk-older-2")) << "\n";
    EXPECT_EQ(of({0, 0, 2}), (std::vector{0, 0, 2}));
    EXPECT_FALSE(std::filesystem::exists(folder.path("checkpoints/disk-token-1")));
}

TEST_F(Disks, OfARankWhoseWordCannotBeTrueAreRefused) {
    for (const int word : {-1, 3, 1 << 30})
        test::expect_contains(message_of<NetworkError>([&] {
                                  (void)of({0, 0, word});
                              }),
                              "the word of rank 2 on its disk");
}

}  // namespace
}  // namespace sotto
