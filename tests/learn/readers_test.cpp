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
    const std::string mark = "\xEF\xBB\xBF";
    EXPECT_EQ(read_records(folder.write("b.txt", mark + "3 1:1\n-1 2:1\n")).labels(0), 3);
    EXPECT_TRUE(read_records(folder.write("b.csv", mark + "a,b\n1,2\n")).dense);
    const std::string leaf = R"({"users":["u"],"user_data":{"u":{"x":[[1,2]],"y":[5]}}})";
    EXPECT_EQ(read_records(folder.write("b.json", mark + leaf)).labels(0), 5);
    expect_error(folder.path("none"), {"cannot be read"});
    expect_error(folder.write("empty", ""), {"no records"});
}

}  // namespace
}  // namespace sotto
