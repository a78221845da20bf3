#include "sums/near_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "sotto/privacy/coalitions.hpp"
#include "sums/sum_graphs.hpp"

namespace sotto {
namespace {

using Groups = std::multiset<std::vector<int>>;

Groups all_groups(const NearGroups& groups, int size) {
    Groups found;
    EXPECT_TRUE(groups.visit(size, [&](std::span<const int> group) {
        found.emplace(group.begin(), group.end());
        return true;
    }));
    return found;
}

/// Groups that hang together, out of all.
Groups expected_groups(const Graph& graph, int reach, int size) {
    Groups expected;
    for_each_coalition(graph.agents(), size, [&](const std::vector<int>& group) {
        std::vector<int> reached{group.front()};
        for (std::size_t i = 0; i < reached.size(); ++i) {
            const std::vector<int> distances = graph.distances_from(reached[i]);
            for (const int v : group)
                if (distances[static_cast<std::size_t>(v)] <= reach &&
                    std::ranges::find(reached, v) == reached.end())
                    reached.push_back(v);
        }
        if (std::ssize(reached) == size) expected.insert(group);
    });
    return expected;
}

TEST(NearGroups, AreAllThatHangTogetherOnceEach) {
    for (const Graph& graph : {test::made_of(Topology::ring, 11),
                               test::made_of(Topology::star, 7),
                               test::made_of(Topology::path, 9),
                               test::made_of(Topology::erdos_renyi, 10)})
        for (const int reach : {1, 2, 4})
            for (int size = 1; size <= 4; ++size)
                EXPECT_EQ(all_groups(NearGroups(graph, reach, 1000), size),
                          expected_groups(graph, reach, size))
                    << reach << ", " << size;
}

TEST(NearGroups, EndWhereTheVisitorDoes) {
    const NearGroups groups(test::made_of(Topology::complete, 9), 2, 1000);
    int visited = 0;
    EXPECT_FALSE(groups.visit(3, [&](std::span<const int>) { return ++visited < 5; }));
    EXPECT_EQ(visited, 5);
    EXPECT_EQ(all_groups(groups, 3).size(), 84U);
    EXPECT_EQ(all_groups(groups, 10).size(), 0U);
}

TEST(NearGroups, BeyondTheLimitAreOnlyThoseOfOne) {
    const NearGroups groups(test::made_of(Topology::complete, 9), 2, 35);
    EXPECT_EQ(all_groups(groups, 1).size(), 9U);
    EXPECT_FALSE(groups.visit(2, [](std::span<const int>) { return true; }));
    EXPECT_TRUE(groups.near(0).empty());
    const NearGroups fits(test::made_of(Topology::complete, 9), 2, 36);
    EXPECT_EQ(all_groups(fits, 2).size(), 36U);
    EXPECT_EQ(fits.near(3).size(), 8U);
}

}  // namespace
}  // namespace sotto
