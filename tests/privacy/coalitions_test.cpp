#include "sotto/privacy/coalitions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

TEST(Coalitions, AreAllSubsetsInLexicographicOrder) {
    for (int agents = 1; agents < 8; ++agents)
        for (int size = 0; size < agents; ++size) {
            std::vector<std::vector<int>> seen;
            for_each_coalition(agents, size, [&](const std::vector<int>& coalition) {
                EXPECT_EQ(static_cast<int>(coalition.size()), size);
                EXPECT_TRUE(std::ranges::is_sorted(coalition));
                EXPECT_EQ(std::set(coalition.begin(), coalition.end()).size(), coalition.size());
                EXPECT_TRUE(coalition.empty() || coalition.back() < agents);
                seen.push_back(coalition);
            });
            EXPECT_EQ(static_cast<double>(seen.size()), count_coalitions(agents, size));
            EXPECT_TRUE(std::ranges::is_sorted(seen));
            EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size());
        }
}

TEST(NextCoalition, StaysAtTheLast) {
    std::vector<int> coalition{3, 4};
    EXPECT_FALSE(next_coalition(coalition, 5));
    EXPECT_EQ(coalition, (std::vector<int>{3, 4}));
    coalition = {0, 4};
    EXPECT_TRUE(next_coalition(coalition, 5));
    EXPECT_EQ(coalition, (std::vector<int>{1, 2}));
}

TEST(CountCoalitions, IsTheBinomialCoefficient) {
    EXPECT_EQ(count_coalitions(20, 0), 1);
    EXPECT_EQ(count_coalitions(20, 3), 1140);
    EXPECT_EQ(count_coalitions(52, 5), 2598960);
}

TEST(CheckCoalitionSize, RefusesWhatIsNoCoalitionAndWhatIsTooMany) {
    EXPECT_NO_THROW(check_coalition_size(1, 0));
    EXPECT_NO_THROW(check_coalition_size(5, 4));
    for (const int size : {-1, 5, 6})
        EXPECT_TRUE(contains(message_of<ConfigError>([&] { check_coalition_size(5, size); }),
                             "0 to 4 of 5 agents"));
    EXPECT_THROW(check_coalition_size(1, 1), ConfigError);
    EXPECT_TRUE(contains(message_of<ConfigError>([] { check_coalition_size(52, 5); }), "at most"));
}

}  // namespace
}  // namespace sotto
