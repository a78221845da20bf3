#include "store/restored_files.hpp"

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

class FilesThatWereRestored : public ::testing::Test {
  protected:
    void restore(Stay stay) const {
        RestoredFiles files(stay);
        files.write(lost, "again");
        files.write(other, "again");
        files.write(other, "once more");
        EXPECT_EQ(read_file(lost), "again");
        EXPECT_EQ(read_file(other), "once more");
    }
    test::TemporaryFolder folder;
    const fs::path lost = folder.path("run/checkpoints/20/agent");
    const fs::path other = folder.write("other", "before");
};

TEST_F(FilesThatWereRestored, ForGoodStay) {
    restore(Stay::for_good);
    EXPECT_EQ(read_file(lost), "again");
    EXPECT_EQ(read_file(other), "once more");
}

TEST_F(FilesThatWereRestored, ForALookGoWithTheirFoldersAndWhatWasThereIsThereAgain) {
    restore(Stay::for_a_look);
    EXPECT_FALSE(fs::exists(folder.path("run")));
    EXPECT_EQ(read_file(other), "before");
}

TEST_F(FilesThatWereRestored, ForALookLeaveFoldersInWhichOthersHaveWritten) {
    fs::create_directory(folder.path("run"));
    {
        RestoredFiles files(Stay::for_a_look);
        files.write(lost, "again");
        std::ofstream(lost.parent_path() / "another's") << "kept";
    }
    EXPECT_FALSE(fs::exists(lost));
    EXPECT_EQ(read_file(lost.parent_path() / "another's"), "kept");
}

TEST_F(FilesThatWereRestored, ForALookByTwoProcessesGoWithTheLastOfThem) {
    const fs::path run = folder.path("above/run");
    {
        auto first = std::make_unique<RestoredFiles>(Stay::for_a_look, run);
        const RestoredFiles unused(Stay::for_a_look, run);
        auto second = std::make_unique<RestoredFiles>(Stay::for_a_look, run);
        first->write(run / "agents/0/checkpoint", "again");
        second->write(run / "agents/1/checkpoint", "again");
        first.reset();
        EXPECT_TRUE(fs::exists(run / "agents/1/checkpoint"));
        EXPECT_FALSE(fs::exists(run / "agents/0"));
        second.reset();
    }
    EXPECT_FALSE(fs::exists(folder.path("above")));
}

}  // namespace
}  // namespace sotto
