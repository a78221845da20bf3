#include "graph/neighbour_list.hpp"

#include "graph_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

NeighbourList list_of(std::string_view text, int agent = 2, int agents = 5) {
    const test::TemporaryFile file(text);
    return read_neighbour_list(file.path(), agent, agents);
}

TEST(NeighbourList, IsOfNumbersOrOfEdges) {
    EXPECT_EQ(list_of("0\n4\n"), (NeighbourList{0, 4}));
    EXPECT_EQ(list_of("# mine\n2 4\n0,2\n4\n2\n"), (NeighbourList{0, 4}));
    EXPECT_EQ(list_of(""), NeighbourList{});
}

TEST(NeighbourList, NamesTheLineThatIsNone) {
    const auto refusal = [](std::string_view text) {
        return message_of<DataError>([&] { (void)list_of(text); });
    };
    for (const char* text : {"0\nfive\n", "0\n5\n", "0\n-1\n", "0\n1.5\n"})
        EXPECT_TRUE(contains(refusal(text), "line 2: ")) << text;
    EXPECT_TRUE(contains(refusal("0 1\n"), "0 - 1 is an edge between other agents"));
    EXPECT_TRUE(contains(refusal("0 2 1\n"), "more than two numbers"));
    EXPECT_TRUE(contains(refusal("9\n"),
                         "(allowed: a number from 0 to 4, or two of which one is "
                         "the agent's own, 2)"));
    EXPECT_THROW((void)read_neighbour_list("none-such", 0, 2), DataError);
}

TEST(NeighbourLists, MakeTheGraphTheyCameFrom) {
    for (const auto& [name, graph] : test::sample_graphs()) {
        if (!graph.connected()) continue;
        std::vector<NeighbourList> lists;
        for (int u = 0; u < graph.agents(); ++u)
            lists.emplace_back(graph.neighbours(u).begin(), graph.neighbours(u).end());
        EXPECT_EQ(graph_of_neighbour_lists(lists).hash(), graph.hash()) << name;
    }
}

TEST(NeighbourLists, ThatContradictEachOtherNameBothAgents) {
    EXPECT_TRUE(contains(message_of<DataError>([] {
                             (void)graph_of_neighbour_lists({{1}, {0, 2}, {}});
                         }),
                         "agent 1 names agent 2, which does not name it"));
    EXPECT_TRUE(contains(message_of<DataError>([] {
                             (void)graph_of_neighbour_lists({{1}, {0}, {3}, {2}});
                         }),
                         "agent 2 is not connected to agent 0"));
}

}  // namespace
}  // namespace sotto
