#include "core/file_batch.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/folder_on_disk.hpp"
#include "core/temporary_folder.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

long entries_of(const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(FileBatch, PutsFilesInPlaceWhenItIsCommitted) {
    const TemporaryFolder folder;
    const fs::path a = folder.path() / "a", b = folder.path() / "b";
    write_file_atomically(a, "old");
    FileBatch together;
    write_file_atomically(a, "new", Readers::owner);
    write_file_atomically(b, "first");
    write_file_atomically(b, "second");
    EXPECT_EQ(read_file(a), "old");
    EXPECT_FALSE(fs::exists(b));
    together.commit();
    EXPECT_EQ(read_file(a), "new");
    EXPECT_EQ(read_file(b), "second");
    EXPECT_EQ(fs::status(a).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(entries_of(folder.path()), 2);
    write_file_atomically(b, "third");
    together.commit();
    EXPECT_EQ(read_file(b), "third");
}

TEST(FileBatch, ThatIsNotCommittedLeavesNothing) {
    const TemporaryFolder folder;
    const fs::path a = folder.path() / "a";
    write_file_atomically(a, "old");
    {
        const FileBatch together;
        write_file_atomically(a, "new");
        write_file_atomically(folder.path() / "b", "new");
        EXPECT_THROW(write_file_atomically(folder.path() / "none" / "c", "new"), ConfigError);
    }
    EXPECT_EQ(read_file(a), "old");
    EXPECT_EQ(entries_of(folder.path()), 1);
    write_file_atomically(a, "later");  // no batch is left
    EXPECT_EQ(read_file(a), "later");
}

TEST(FileBatch, NamesWhatCannotTakeItsPlace) {
    const TemporaryFolder folder;
    FileBatch together;
    write_file_atomically(folder.path() / "a", "new");
    fs::create_directory(folder.path() / "a");  // meanwhile
    try {
        together.commit();
        ADD_FAILURE() << "nothing was said";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("/a"), std::string::npos) << error.what();
    }
}

// The same files in the same folders, each waited for by itself and together: by one thread, so
// that its waits can be counted.
TEST(FileBatch, WaitsForTheDiskFewTimes) {
    const test::FolderOnDisk folder;
    const auto waits = [&](const std::string& name, bool batched) {
        const long before = test::waits_so_far();
        for (int part = 0; part < 10; ++part) {
            FileBatch together;
            for (int file = 0; file < 8; ++file) {
                write_file_atomically(
                    folder.path() / (name + std::to_string(part) + std::to_string(file)), "some");
                if (!batched) together.commit();
            }
            together.commit();
        }
        return test::waits_so_far() - before;
    };
    const long single = waits("single", false);
    if (single < 80) GTEST_SKIP() << "this file system never waits";
    EXPECT_LT(waits("batched", true), 0.8 * static_cast<double>(single));
}

}  // namespace
}  // namespace sotto
