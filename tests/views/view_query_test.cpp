#include "sotto/views/view_query.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

Graph ring(int agents) { return make_graph(Topology::ring, agents); }

TEST(ParseView, ReadsEveryKindAndNamesItBack) {
    const Graph graph = ring(6);
    for (const char* text : {"eavesdropper",
                             "node:3",
                             "coalition:0,2,5",
                             "secure-sum:1",
                             "all-messages:4,5",
                             "all-nodes",
                             "worst-coalition:2",
                             "worst-all-messages:5"})
        EXPECT_EQ(name_of(parse_view("--view", text, graph)), text);
    EXPECT_EQ(name_of(parse_view("--view", "coalition:5,0,2", graph)), "coalition:0,2,5");
    const auto several = parse_views("--view", "node:1;eavesdropper", graph);
    ASSERT_EQ(several.size(), 2U);
    EXPECT_EQ(name_of(several[1]), "eavesdropper");
}

TEST(ParseView, SaysWhoObserves) {
    const Graph graph = ring(4);
    const auto observers = [&](const char* text) {
        return parse_view("--view", text, graph).observers;
    };
    using Kind = View::Kind;
    EXPECT_EQ(observers("eavesdropper"), (std::vector<View>{{Kind::all_messages, {}}}));
    EXPECT_EQ(observers("node:3"), (std::vector<View>{{Kind::neighbours, {3}}}));
    EXPECT_EQ(observers("coalition:3,1"), (std::vector<View>{{Kind::neighbours, {1, 3}}}));
    EXPECT_EQ(observers("secure-sum:2"), (std::vector<View>{{Kind::secure_sum, {2}}}));
    EXPECT_EQ(observers("all-messages:0,2"), (std::vector<View>{{Kind::all_messages, {0, 2}}}));
    EXPECT_EQ(observers("all-nodes"),
              (std::vector<View>{{Kind::neighbours, {0}},
                                 {Kind::neighbours, {1}},
                                 {Kind::neighbours, {2}},
                                 {Kind::neighbours, {3}}}));
    EXPECT_TRUE(observers("worst-coalition:2").empty());
}

TEST(ViewQuery, IsOfOneObserverOfSeveralOrASearch) {
    const Graph graph = ring(4);
    const auto query = [&](const char* text) { return parse_view("--view", text, graph); };
    const ViewQuery node = query("node:2"), all = query("all-nodes"),
                    worst = query("worst-all-messages:3");
    ASSERT_NE(node.one_observer(), nullptr);
    EXPECT_EQ(*node.one_observer(), (View{View::Kind::neighbours, {2}}));
    EXPECT_EQ(all.one_observer(), nullptr);
    EXPECT_EQ(worst.one_observer(), nullptr);
    EXPECT_FALSE(node.is_search() || all.is_search());
    EXPECT_TRUE(worst.is_search());
    EXPECT_EQ(worst.arguments.size, 3);
}

TEST(ParseView, SaysWhatIsAllowed) {
    const Graph numbers = ring(6);
    const auto message = [](const char* text, const Graph& graph) {
        return message_of<ConfigError>([&] { (void)parse_view("--view", text, graph); });
    };
    EXPECT_TRUE(contains(message("nodee:1", numbers), "did you mean 'node'?"));
    EXPECT_TRUE(contains(message("node:6", numbers), "agent 6 does not exist (allowed: 0 to 5)"));
    EXPECT_TRUE(contains(message("node:1,2", numbers),
                         "'node:1,2' names several agents; use coalition:1,2"));
    EXPECT_TRUE(contains(message("coalition:1,1", numbers), "agent 1 is named twice"));
    EXPECT_TRUE(contains(message("coalition", numbers),
                         "'coalition' needs agents (example: coalition:0,3)"));
    EXPECT_TRUE(contains(message("node:", numbers), "'node:' needs agents (example: node:0)"));
    EXPECT_TRUE(contains(message("worst-coalition", numbers),
                         "needs a number of agents (example: worst-coalition:2)"));
    EXPECT_TRUE(contains(message("all-nodes:1", numbers),
                         "'all-nodes' takes nothing after it, 'all-nodes:1' given"));
    for (const char* size : {"worst-coalition:0", "worst-coalition:6"})
        EXPECT_TRUE(contains(message(size, numbers), "must be 1 to 5"));
    const Graph labels = Graph::from_edges(3, {{0, 1}, {1, 2}}, {"alba", "bruno", "carla"});
    EXPECT_TRUE(contains(message("node:bruno", labels), "label 'bruno' is agent 1"));
}

}  // namespace
}  // namespace sotto
