#include "store/run_log.hpp"

#include <regex>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

TEST(RunLog, HasTheTimeOfDayBeforeEveryLineAndOneReader) {
    const test::TemporaryFolder folder;
    append_to_log(folder.path(""), "\nfirst\nsecond\n");
    append_to_log(folder.path(""), "third");
    const std::string time = R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)";
    const std::regex lines(time + "  first\n" + time + "  second\n" + time + "  third\n");
    EXPECT_TRUE(std::regex_match(read_file(folder.path("log.txt")), lines));
    EXPECT_EQ(fs::status(folder.path("log.txt")).permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
}

TEST(RunLog, EndsNothingWhereItCannotBeWritten) {
    const test::TemporaryFolder folder;
    append_to_log(folder.path("absent"), "line\n");
    EXPECT_FALSE(fs::exists(folder.path("absent")));
}

TEST(RunLog, FollowsNoLink) {
    const test::TemporaryFolder folder;
    const std::string other = folder.write("other", "kept");
    fs::create_symlink(other, folder.path("log.txt"));
    append_to_log(folder.path(""), "line\n");
    EXPECT_EQ(read_file(other), "kept");
}

}  // namespace
}  // namespace sotto
