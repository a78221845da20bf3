#include "sotto/learn/readers.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/temporary_folder.hpp"
#include "learn/reader_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_error;
using test::TemporaryFolder;

TEST(ReadRecords, RecognisesTheFormatByItsContent) {
    const TemporaryFolder folder;
    EXPECT_FALSE(read_records(folder.write("a.json", "+1 1:1\n-1 2:1\n")).dense);
    EXPECT_TRUE(read_records(folder.write("a.txt", "# a comment, with a comma\n1,2\n")).dense);
    expect_error(folder.write("a.csv", std::string("\x89PNG\0\0", 6)),
                 {"byte 4", "LIBSVM, IDX, CSV"});
    expect_error(folder.path("none"), {"cannot be read"});
    expect_error(folder.write("empty", ""), {"no records"});
}

}  // namespace
}  // namespace sotto
