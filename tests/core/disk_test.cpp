#include "core/disk.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "core/folder_on_disk.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;
using test::TemporaryFolder;

namespace fs = std::filesystem;

TEST(Disk, NamesThePathThatCannotBeWrittenAndWhy) {
    const std::string text = message_of<ConfigError>([] {
        errno = EACCES;
        throw_unwritable("/a/b");
    });
    EXPECT_TRUE(contains(text, "/a/b") && contains(text, "Permission denied")) << text;
    EXPECT_THROW(
        {
            errno = ENOSPC;
            throw_unwritable("/a/b");
        },
        Error);
}

TEST(Disk, KnowsTheFolderOfAFile) {
    EXPECT_EQ(folder_of("/a/b"), "/a");
    EXPECT_EQ(folder_of("b"), ".");
}

TEST(Disk, IsWaitedForByFilesAndFoldersTogether) {
    const TemporaryFolder folder;
    std::vector<fs::path> paths{folder.path()};
    for (int file = 0; file < 30; ++file) {
        paths.push_back(folder.path() / std::to_string(file));
        write_file_atomically(paths.back(), "content");
    }
    EXPECT_NO_THROW(flush_to_disk(paths));
    EXPECT_NO_THROW(flush_to_disk(std::vector<fs::path>(1000, paths.front())));
    EXPECT_NO_THROW(flush_to_disk(folder.path() / "gone"));
    EXPECT_NO_THROW(flush_to_disk(std::vector<fs::path>()));
    // What cannot be flushed at all is said, also where several wait.
    paths.emplace_back("/dev/null");
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { flush_to_disk(paths); }), "/dev/null"));
    std::vector<fs::path> told(paths.size(), "another");
    told.back() = "the file's own name";
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { flush_to_disk(paths, told); }),
                         told.back().string()));
}

TEST(Disk, HoldsNothingOfFilesThatAreErasedTogether) {
    const TemporaryFolder folder;
    const std::string secret(10000, 's');
    std::vector<fs::path> paths, links;
    for (int file = 0; file < 20; ++file) {
        paths.push_back(folder.path() / std::to_string(file));
        links.push_back(folder.path() / ("link" + std::to_string(file)));
        write_file_atomically(paths.back(), secret);
        fs::create_hard_link(paths.back(), links.back());
    }
    paths.push_back(folder.path() / "never made");
    fs::create_directory(folder.path() / "folder");
    paths.insert(paths.begin() + 3, folder.path() / "folder");
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { erase_files(paths); }), "folder"));
    for (std::size_t file = 0; file < links.size(); ++file) {
        EXPECT_EQ(read_file(links[file]).find('s'), std::string::npos);
        EXPECT_FALSE(fs::exists(folder.path() / std::to_string(file)));
    }
}

TEST(Disk, TakesAllBytesOrSaysWhyNot) {
    const TemporaryFolder folder;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    EXPECT_TRUE(write_all(ends[1], "abc"));
    char read[3];
    EXPECT_EQ(::read(ends[0], read, 3), 3);
    EXPECT_EQ(std::string(read, 3), "abc");
    ::close(ends[1]);
    ::close(ends[0]);
    EXPECT_FALSE(write_all(ends[1], "abc"));
    EXPECT_EQ(errno, EBADF);
}

namespace fs = std::filesystem;

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
