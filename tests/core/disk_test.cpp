#include "core/disk.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::message_of;
using test::TemporaryFolder;

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

}  // namespace
}  // namespace sotto
