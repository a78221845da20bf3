#include "sotto/graph/graph.hpp"

#include <algorithm>
#include <set>

#include "graph_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

TEST(Graph, CountsRepeatedAndReversedEdgesOnceAndDropsSelfLoops) {
    const Graph graph = Graph::from_edges(4, {{2, 1}, {1, 2}, {3, 3}, {1, 2}, {0, 3}});
    const std::vector<Edge> expected{{0, 3}, {1, 2}};
    EXPECT_TRUE(std::ranges::equal(graph.edges(), expected));
    EXPECT_EQ(graph.degree(3), 1);
}

TEST(Graph, NeighboursAreTheEdgesSeenFromEachEndInAscendingOrder) {
    for (const auto& [name, graph] : test::sample_graphs()) {
        SCOPED_TRACE(name);
        std::vector<std::set<int>> expected(static_cast<std::size_t>(graph.agents()));
        for (const auto& [u, v] : graph.edges()) {
            EXPECT_LT(u, v);
            expected[static_cast<std::size_t>(u)].insert(v);
            expected[static_cast<std::size_t>(v)].insert(u);
        }
        for (int u = 0; u < graph.agents(); ++u) {
            std::set<int>& around = expected[static_cast<std::size_t>(u)];
            EXPECT_TRUE(std::ranges::equal(graph.neighbours(u), around));
            EXPECT_EQ(graph.degree(u), static_cast<int>(around.size()));
            around.insert(u);
            EXPECT_TRUE(std::ranges::equal(graph.closed_neighbourhood(u), around));
        }
    }
}

TEST(Graph, ComponentsAreNumberedByTheirLowestAgent) {
    const Graph graph = Graph::from_edges(7, {{0, 4}, {1, 6}, {6, 2}, {5, 3}});
    EXPECT_EQ(graph.components(), (std::vector<int>{0, 1, 1, 2, 0, 2, 1}));
    EXPECT_FALSE(graph.connected());
    EXPECT_TRUE(Graph::from_edges(1, {}).connected());
}

TEST(Graph, DistancesDifferByAtMostOneAcrossAnEdgeAndDecreaseTowardsTheSource) {
    for (const auto& [name, graph] : test::sample_graphs()) {
        SCOPED_TRACE(name);
        for (int source = 0; source < graph.agents(); ++source) {
            const std::vector<int> distance = graph.distances_from(source);
            for (int u = 0; u < graph.agents(); ++u) {
                if (u == source) {
                    EXPECT_EQ(distance[static_cast<std::size_t>(u)], 0);
                    continue;
                }
                int nearest = graph.agents();
                for (const int v : graph.neighbours(u))
                    nearest = std::min(nearest, distance[static_cast<std::size_t>(v)]);
                EXPECT_EQ(distance[static_cast<std::size_t>(u)], nearest + 1);
            }
        }
    }
}

TEST(Graph, DistanceIsMinusOneWhereUnreachable) {
    const Graph graph = Graph::from_edges(4, {{0, 1}, {2, 3}});
    EXPECT_EQ(graph.distances_from(1), (std::vector<int>{1, 0, -1, -1}));
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { (void)graph.distances_from(4); }), "0 to 3"));
}

TEST(Graph, HashDependsOnAgentsAndEdgesButNotOnLabels) {
    const Graph graph = Graph::from_edges(3, {{0, 1}});
    EXPECT_EQ(graph.hash(), Graph::from_edges(3, {{1, 0}, {0, 1}}, {"a", "b", "c"}).hash());
    EXPECT_NE(graph.hash(), Graph::from_edges(4, {{0, 1}}).hash());
    EXPECT_NE(graph.hash(), Graph::from_edges(3, {{0, 2}}).hash());
    EXPECT_NE(graph.hash(), Graph::from_edges(3, {}).hash());
}

TEST(Graph, LabelsAreNumbersUnlessGiven) {
    EXPECT_EQ(Graph::from_edges(12, {}).label(11), "11");
    EXPECT_EQ(Graph::from_edges(2, {{0, 1}}, {"x", "y"}).label(1), "y");
}

TEST(Graph, RefusesWhatIsNotAGraphAndSaysWhy) {
    EXPECT_TRUE(contains(message_of<ConfigError>([] { (void)Graph::from_edges(0, {}); }), "0"));
    for (const Edge& edge : {Edge{0, 3}, Edge{-1, 1}, Edge{3, 3}})
        EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)Graph::from_edges(3, {edge}); }),
                             "0 to 2"));
    EXPECT_TRUE(contains(message_of<ConfigError>([] {
                             (void)Graph::from_edges(3, {}, {"a", "b"});
                         }),
                         "2 given"));
    EXPECT_TRUE(contains(message_of<ConfigError>([] {
                             (void)Graph::from_edges(2, {}, {"a", "a"});
                         }),
                         "twice"));
}

}  // namespace
}  // namespace sotto
