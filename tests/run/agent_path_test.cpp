#include "run/agent_path.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sotto
