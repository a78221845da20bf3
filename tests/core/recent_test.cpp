#include "core/recent.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sotto {
namespace {

/// Problems are numbers, solutions their names, of so many bytes.
class RecentTest : public testing::Test {
  protected:
    std::string ask(int number, std::size_t bytes = 4) {
        const Digest problem = Hasher("test").add(std::int64_t{number}).finish();
        return recent_.get(
            problem,
            [&] {
                solved_.push_back(number);
                return std::to_string(number);
            },
            [&](const std::string&) { return bytes; });
    }
    Recent<std::string> recent_{10};
    std::vector<int> solved_;
};

TEST_F(RecentTest, KeepsWhatWasAskedForLastAsLongAsItFits) {
    for (const int number : {1, 2, 1, 3, 1, 3, 2}) EXPECT_EQ(ask(number), std::to_string(number));
    // Of three that fit by twos, 2 was not asked for the longest when 3 came.
    EXPECT_EQ(solved_, (std::vector{1, 2, 3, 2}));
}

TEST_F(RecentTest, KeepsNothingThatIsTooLargeAndLosesNothingByIt) {
    for (const int number : {1, 2, 2, 1})
        EXPECT_EQ(ask(number, number == 2 ? 11 : 10), std::to_string(number));
    EXPECT_EQ(solved_, (std::vector{1, 2, 2}));
}

}  // namespace
}  // namespace sotto
