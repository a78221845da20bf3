#include "training/rank_layout.hpp"

#include <vector>

#include "config/run_fixtures.hpp"
#include "sotto/net/memory_network.hpp"

namespace sotto {
namespace {

NetworkSpec spec_of(std::optional<int> hosts, std::optional<int> ranks) {
    return {0.01, 1e8, hosts, ranks};
}

TEST(RankLayout, OfOneProcessHasARankAnAgentAndAHostARank) {
    const auto network = make_memory_network(3, 1);
    const RankLayout layout = rank_layout(spec_of({}, {}), *network);
    EXPECT_EQ(layout.blocks.processes(), 3);
    EXPECT_EQ(layout.host_of, (std::vector{0, 1, 2}));
    EXPECT_EQ(layout.hosts.size(), 3U);
    EXPECT_EQ(layout.heaviest().agents, 1);
}

TEST(RankLayout, SpreadsConsecutiveRanksOverHosts) {
    const auto network = make_memory_network(7, 1);
    const RankLayout layout = rank_layout(spec_of(2, 3), *network);
    EXPECT_EQ(layout.blocks.processes(), 3);
    EXPECT_EQ(layout.host_of, (std::vector{0, 1, 1}));
    EXPECT_EQ(layout.heaviest().agents, 5);
    EXPECT_EQ(layout.heaviest().ranks, 2);
}

TEST(RankLayout, RefusesMoreRanksThanAgentsAndMoreHostsThanRanks) {
    const auto network = make_memory_network(3, 1);
    test::expect_contains(
        test::message_of<ConfigError>([&] { (void)rank_layout(spec_of({}, 4), *network); }),
        "--network, ranks: 4 is not allowed (at most one an agent, 3)");
    test::expect_contains(
        test::message_of<ConfigError>([&] { (void)rank_layout(spec_of(3, 2), *network); }),
        "--network, hosts: 3 is not allowed (at most one a rank, 2)");
}

}  // namespace
}  // namespace sotto
