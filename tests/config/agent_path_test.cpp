#include "config/agent_path.hpp"

#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(PathOfAgent, HoldsTheNumberWhereThePlaceholderStands) {
    EXPECT_EQ(path_of_agent("shard-%r.svm", 3), "shard-3.svm");
    EXPECT_EQ(path_of_agent("%r/%r", 12), "12/12");
    EXPECT_EQ(path_of_agent("%r%r", 0), "00");
}

TEST(PathOfAgent, LeavesEveryOtherPathAsItIs) {
    for (const char* const path : {"", "r", "100%", "%", "% r", "%R"})
        EXPECT_EQ(path_of_agent(path, 7), path);
    EXPECT_EQ(path_of_agent("%%rr", 7), "%7r");
}

TEST(DiffersByAgent, WherePathsOfTwoAgentsAreTwo) {
    for (const char* const path : {"a-%r", "%r", "data/%r/x.csv", "a", "", "%", "%%rr"})
        EXPECT_EQ(differs_by_agent(path), path_of_agent(path, 0) != path_of_agent(path, 1)) << path;
}

TEST(ListedFiles, StandBetweenCommasUnlessAFileHasTheWholeName) {
    const test::TemporaryFolder folder;
    using Files = std::vector<std::string>;
    EXPECT_EQ(listed_files("a,b-%r", 2), (Files{"a", "b-2"}));
    EXPECT_EQ(listed_files("a", 0), Files{"a"});
    EXPECT_EQ(listed_files("a,,b", 0), (Files{"a", "", "b"}));
    EXPECT_EQ(listed_files("a\\,b,c", 0), (Files{"a,b", "c"}));
    EXPECT_EQ(listed_files("a\\b\\", 0), Files{"a\\b\\"});
    const std::string whole = folder.write("x,y-1", "");
    EXPECT_EQ(listed_files(whole, 1), Files{whole});
    EXPECT_EQ(listed_files(folder.path("x,y-%r"), 1), Files{whole});
    EXPECT_EQ(listed_files(folder.path("x,y-%r"), 2), (Files{folder.path("x"), "y-2"}));
}

TEST(ListedFiles, OfAPatternAreOneAnAgentInNaturalOrder) {
    const test::TemporaryFolder folder;
    for (const char* const name : {"hospital10.csv", "hospital2.csv", "hospital1.csv", "notes"})
        (void)folder.write(name, "");
    const std::string pattern = folder.path("hospital*.csv");
    EXPECT_TRUE(differs_by_agent(pattern));
    EXPECT_EQ(listed_files(pattern, 1), std::vector<std::string>{folder.path("hospital2.csv")});
    EXPECT_EQ(listed_files(pattern, 2), std::vector<std::string>{folder.path("hospital10.csv")});
    EXPECT_THROW((void)listed_files(pattern, 3), DataError);
    EXPECT_THROW((void)matching_files(folder.path("x*")), DataError);
    const std::string named = folder.write("a*b", "");
    EXPECT_EQ(listed_files(named, 5), std::vector<std::string>{named}) << "a file of that name";
}

}  // namespace
}  // namespace sotto
