#include "run/restored_files.hpp"

#include "run/run_fixtures.hpp"

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

}  // namespace
}  // namespace sotto
