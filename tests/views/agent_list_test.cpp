#include "sotto/views/agent_list.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(ParseAgentList, SortsAgentsAndRefusesThoseThatAreNotThere) {
    const Graph graph = make_graph(Topology::ring, 6);
    EXPECT_EQ(parse_agent_list("--x", "5,0,2", graph), (std::vector<int>{0, 2, 5}));
    const auto message = [&](const char* text) {
        return message_of<ConfigError>([&] { (void)parse_agent_list("--x", text, graph); });
    };
    EXPECT_TRUE(contains(message("6"), "--x: agent 6 does not exist (allowed: 0 to 5)"));
    EXPECT_TRUE(contains(message("-1"), "agent -1 does not exist"));
    EXPECT_TRUE(contains(message("3,1,3"), "agent 3 is named twice"));
    EXPECT_TRUE(contains(message("1,"), "--x"));
    EXPECT_TRUE(contains(message("two"), "two"));
}

TEST(ParseAgentList, SaysHowAgentsWithLabelsAreNumbered) {
    const Graph labels = Graph::from_edges(3, {{0, 1}, {1, 2}}, {"alba", "bruno", "carla"});
    const auto message = [&](const char* text) {
        return message_of<ConfigError>([&] { (void)parse_agent_list("--x", text, labels); });
    };
    EXPECT_TRUE(contains(message("bruno"), "label 'bruno' is agent 1"));
    EXPECT_TRUE(contains(message("7"), "0 is 'alba', 2 is 'carla'"));
}

TEST(ParseAgentsOrAll, KnowsOneWordMore) {
    const Graph graph = make_graph(Topology::ring, 4);
    EXPECT_EQ(parse_agents_or_all("--x", "all", graph), everybody(4));
    EXPECT_EQ(parse_agents_or_all("--x", "3,1", graph), (std::vector<int>{1, 3}));
}

}  // namespace
}  // namespace sotto
