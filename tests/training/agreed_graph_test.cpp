#include "training/agreed_graph.hpp"

#include <fmt/format.h>

#include "config/run_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/net/memory_network.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

TEST(AgreedGraph, IsOfWhatEveryAgentKnows) {
    const TemporaryFolder folder;
    for (int u = 0; u < 5; ++u)
        folder.write(fmt::format("near{}", u), fmt::format("{}\n{}\n", (u + 1) % 5, (u + 4) % 5));
    const auto network = make_memory_network(5, 1);
    const Graph graph = agree_on_graph(*network, folder.path("near%r"));
    EXPECT_EQ(graph.agents(), 5);
    EXPECT_EQ(graph.edges().size(), 5U);
    for (int u = 0; u < 5; ++u) EXPECT_TRUE(graph.hears(u, (u + 1) % 5));
}

TEST(AgreedGraph, IsNoneWhereAgentsContradictEachOther) {
    const TemporaryFolder folder;
    for (int u = 0; u < 3; ++u) folder.write(fmt::format("near{}", u), u == 2 ? "" : "2\n");
    const auto network = make_memory_network(3, 1);
    expect_contains(
        message_of<DataError>([&] { (void)agree_on_graph(*network, folder.path("near%r")); }),
        "agent 0 names agent 2, which does not name it");
}

TEST(AgreedGraph, TravelsAsItIs) {
    const AgentBlocks blocks(5, 2);  // agents 0 and 1; 2 to 4
    const std::vector<NeighbourList> lists{{0, 4}, {}, {2}};
    EXPECT_EQ(unpack_neighbour_lists(pack_neighbour_lists(lists), 1, blocks), lists);
}

}  // namespace
}  // namespace sotto
