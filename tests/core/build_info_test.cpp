#include "sotto/core/build_info.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace sotto {
namespace {

TEST(BuildInfo, NamesVersionCommitAndCompiler) {
    EXPECT_TRUE(std::regex_match(build_version(), std::regex(R"(\d+\.\d+\.\d+)")))
        << build_version();
    EXPECT_TRUE(std::regex_match(build_commit(), std::regex("unknown|.*[0-9a-f]{7,}(-dirty)?")))
        << build_commit();
    EXPECT_TRUE(std::regex_match(build_compiler(), std::regex(R"(\w+ \d+(\.\d+)*)")))
        << build_compiler();
}

}  // namespace
}  // namespace sotto
