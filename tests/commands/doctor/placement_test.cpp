#include "commands/doctor/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sotto/core/host.hpp"
#include "sotto/net/memory_network.hpp"

namespace sotto {
namespace {

TEST(Placement, OfOneProcessIsItsHostAndItsCores) {
    const auto network = make_memory_network(3, 1);
    const Placement placement = find_placement(*network);
    EXPECT_TRUE(placement.launched);
    EXPECT_EQ(placement.rank, 0);
    EXPECT_EQ(placement.ranks, 1);
    EXPECT_EQ(placement.ranks_on_host, 1);
    EXPECT_EQ(placement.host, local_host_name());
    EXPECT_EQ(placement.cores_on_host, static_cast<int>(allowed_cores().size()));
}

TEST(Placement, CountsCoresOnceAndNoMoreThanTheHostHas) {
    const std::vector<int> cores = allowed_cores();
    ASSERT_FALSE(cores.empty());
    EXPECT_TRUE(std::ranges::is_sorted(cores));
    EXPECT_EQ(std::ranges::adjacent_find(cores), cores.end());
    for (const int on_host : {1, 2, 1 << 20}) {
        Placement placement;
        placement.cores_on_host = on_host;
        EXPECT_GE(usable_cores(placement), 1);
        EXPECT_LE(usable_cores(placement), on_host);
    }
}

}  // namespace
}  // namespace sotto
