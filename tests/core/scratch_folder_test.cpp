#include "core/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/folder_on_disk.hpp"
#include "core/temporary_folder.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolder, HoldsWhatIsInItAndBelowForAsLongAsItIsThere) {
    const test::TemporaryFolder folder;
    const fs::path run = folder.path() / "run";
    EXPECT_FALSE(is_scratch(run / "model.npy"));
    {
        const ScratchFolder scratch(run);  // not made yet
        EXPECT_TRUE(is_scratch(run / "model.npy"));
        fs::create_directories(run / "agents" / "3");
        EXPECT_TRUE(is_scratch(run / "agents" / "3" / "model.npy"));
        EXPECT_TRUE(is_scratch(fs::relative(run / "model.npy")));
        EXPECT_TRUE(is_scratch(run / ".." / "run" / "model.npy"));
        EXPECT_FALSE(is_scratch(folder.path() / "model.npy"));
        EXPECT_FALSE(is_scratch(folder.path() / "run.json"));
        EXPECT_FALSE(is_scratch(folder.path() / "running" / "model.npy"));
        EXPECT_FALSE(is_scratch(run / ".." / "spent"));
        fs::create_directory_symlink(run, folder.path() / "link");
        EXPECT_TRUE(is_scratch(folder.path() / "link" / "model.npy"));
        fs::create_directory_symlink(folder.path(), run / "out");
        EXPECT_FALSE(is_scratch(run / "out" / "spent"));
        const ScratchFolder other(folder.path() / "other");
        EXPECT_TRUE(is_scratch(folder.path() / "other" / "model.npy"));
        EXPECT_TRUE(is_scratch(run / "model.npy"));
    }
    EXPECT_FALSE(is_scratch(run / "model.npy"));
    EXPECT_FALSE(is_scratch(folder.path() / "other" / "model.npy"));
}

TEST(ScratchFolder, HoldsWholeFilesOfWhichNothingElseIsLeft) {
    const test::TemporaryFolder folder;
    const ScratchFolder scratch(folder.path());
    write_file_atomically(folder.path() / "a", "old");
    write_file_atomically(folder.path() / "a", "new");
    scratch.flush();
    EXPECT_EQ(read_file(folder.path() / "a"), "new");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
    EXPECT_THROW(write_file_atomically(folder.path() / "no" / "b", "new"), ConfigError);
}

TEST(ScratchFolder, ThatIsNotThereHasNothingToFlush) {
    const test::TemporaryFolder folder;
    const ScratchFolder scratch(folder.path() / "never made");
    EXPECT_NO_THROW(scratch.flush());
    std::ofstream(folder.path() / "file") << "no folder";
    const ScratchFolder wrong(folder.path() / "file");
    EXPECT_THROW(wrong.flush(), ConfigError);
}

TEST(ScratchFolder, IsNotWaitedFor) {
    const test::FolderOnDisk folder;
    const auto waits = [&](const std::string& name) {
        const long before = test::waits_so_far();
        for (int file = 0; file < 40; ++file)
            write_file_atomically(folder.path() / (name + std::to_string(file)), "content");
        return test::waits_so_far() - before;
    };
    const long durable = waits("durable");
    if (durable < 40) GTEST_SKIP() << "this file system never waits";
    const ScratchFolder scratch(folder.path());
    EXPECT_LT(waits("scratch"), durable / 4);
    const long before = test::waits_so_far();
    scratch.flush();
    EXPECT_GT(test::waits_so_far(), before) << "what was written was not waited for in the end";
}

}  // namespace
}  // namespace sotto
