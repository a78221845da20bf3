#include "core/regular_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

TEST(RegularFile, GivesItsBytesInPieces) {
    const test::TemporaryFolder folder;
    RegularFile file(folder.write("text", "seven b"));
    EXPECT_EQ(file.size(), 7U);
    std::string piece(5, '\0');
    EXPECT_EQ(file.read(piece.data(), 5), 5U);
    EXPECT_EQ(piece, "seven");
    EXPECT_EQ(file.read(piece.data(), 5), 2U);
    EXPECT_EQ(file.read(piece.data(), 5), 0U);
}

TEST(RegularFile, IsNothingElseAndSaysWhatIsThere) {
    const test::TemporaryFolder folder;
    const std::string pipe = folder.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const auto& [path, what] : {std::pair(pipe, "is a pipe, not a file"),
                                     {folder.path().string(), "is a directory, not a file"},
                                     {std::string("/dev/zero"), "is a device, not a file"},
                                     {folder.path("none"), "cannot be read (No such file"}})
        EXPECT_TRUE(contains(message_of<DataError>([&] { RegularFile{path}; }), what));
}

}  // namespace
}  // namespace sotto
