#include "commands/report/shown_observers.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "sotto/privacy/coalitions.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TEST(ShownObservers, AreAsManySizesAsAPageHolds) {
    for (const int agents : {2, 5, 12, 20, 40, 100}) {
        const int largest = largest_shown_coalition(agents, {});
        double count = 1, more = 0;
        for (int size = 1; size <= largest; ++size) count += count_coalitions(agents, size);
        EXPECT_LE(count, most_observers) << agents;
        if (largest + 1 < agents) {
            more = count + count_coalitions(agents, largest + 1);
            EXPECT_TRUE(more > most_observers || more * agents * agents * agents > 1e10) << agents;
        }
    }
    EXPECT_EQ(largest_shown_coalition(20, {}), 4);
    EXPECT_EQ(largest_shown_coalition(100, {}), 2);
    EXPECT_EQ(largest_shown_coalition(1000, {}), 1);
    EXPECT_EQ(largest_shown_coalition(1, {}), 0);
    EXPECT_EQ(largest_shown_coalition(100000, {}), 0) << "each is too much work";
}

TEST(ShownObservers, AreOfTheSizeThatIsAskedFor) {
    EXPECT_EQ(largest_shown_coalition(20, 7), 7);
    for (const int size : {-1, 4})
        expect_contains(message_of<ConfigError>([&] { (void)largest_shown_coalition(4, size); }),
                        "is not allowed (0 to 3");
}

TEST(ShownObservers, GoBySizeThenByNumbers) {
    using List = std::vector<std::vector<int>>;
    EXPECT_EQ(coalitions_by_size(3, 0, 2), (List{{}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}}));
    EXPECT_EQ(coalitions_by_size(3, 1, 1), (List{{0}, {1}, {2}}));
    EXPECT_TRUE(coalitions_by_size(3, 1, 0).empty());
}

}  // namespace
}  // namespace sotto
