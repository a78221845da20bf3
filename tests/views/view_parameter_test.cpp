#include "views/view_parameter.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

TEST(ViewParameter, IsWhatFollowsTheNameOfAView) {
    EXPECT_EQ(parameter_of(ViewRecord::Takes::nothing).placeholder, "");
    EXPECT_EQ(parameter_of(ViewRecord::Takes::one_agent).placeholder, "a");
    EXPECT_EQ(parameter_of(ViewRecord::Takes::agents).placeholder, "a,b");
    const ViewParameter size = parameter_of(ViewRecord::Takes::size);
    EXPECT_EQ(size.placeholder, "q");
    EXPECT_EQ(size.what, "a number of agents");
    EXPECT_EQ(size.example, "2");
}

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

TEST(LabelOfObservers, BeginsASentence) {
    EXPECT_EQ(label_of_observers({}), "Whoever sees every message");
    EXPECT_EQ(label_of_observers({3}), "Agent 3");
    EXPECT_EQ(label_of_observers({2, 5}), "Agents 2, 5");
}

TEST(LabelOfAgent, HasTheNameOfAGraphFile) {
    const Graph labels = Graph::from_edges(2, {{0, 1}}, {"alba", "bruno"});
    EXPECT_EQ(label_of_agent(labels, 1), "1 (bruno)");
    EXPECT_EQ(label_of_agent(Graph::from_edges(2, {{0, 1}}), 1), "1");
}

TEST(ArgumentOf, IsSoundForTrainingOnlyWithAllMessages) {
    const View all{View::Kind::all_messages, {}}, some{View::Kind::neighbours, {1}};
    const auto expect = [](const Argument& argument, const std::string& text, bool sound) {
        EXPECT_EQ(argument.text, text);
        EXPECT_EQ(argument.sound, sound) << text;
    };
    expect(argument_of(all, Inputs::adaptive, false), "all messages seen", true);
    expect(argument_of(some, Inputs::adaptive, false), "non-adaptive ([U] Theorem 8)", false);
    expect(argument_of({View::Kind::secure_sum, {1}}, Inputs::fixed, false),
           "exact, inputs fixed in advance",
           true);
    expect(argument_of(some, Inputs::convex, false), "bound: convex and smooth losses", true);
    expect(argument_of(all, Inputs::convex, false), "all messages seen", true);
    for (const Inputs inputs : {Inputs::adaptive, Inputs::fixed, Inputs::convex}) {
        expect(argument_of(all, inputs, true), "all messages seen", true);
        expect(argument_of(some, inputs, true), "bound: all messages seen", true);
    }
}

}  // namespace
}  // namespace sotto
