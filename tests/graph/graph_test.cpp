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

TEST(DirectedGraph, TellsWhoHearsWhom) {
    // 0 -> 1 -> 2 -> 0, 0 <-> 2, 3 -> 0.
    const Graph graph =
        Graph::from_arcs(4, {{0, 1}, {1, 2}, {2, 0}, {0, 2}, {3, 0}, {3, 0}, {1, 1}});
    EXPECT_TRUE(graph.directed());
    EXPECT_EQ(graph.messages(), 5U);
    EXPECT_EQ(graph.arcs(), (std::vector<Arc>{{0, 1}, {0, 2}, {1, 2}, {2, 0}, {3, 0}}));
    EXPECT_EQ(graph.links(), graph.arcs());
    EXPECT_TRUE(std::ranges::equal(graph.heard(0), std::vector{2, 3}));
    EXPECT_TRUE(std::ranges::equal(graph.hearers(0), std::vector{1, 2}));
    EXPECT_TRUE(std::ranges::equal(graph.neighbours(0), std::vector{1, 2, 3}));
    EXPECT_TRUE(std::ranges::equal(graph.closed_neighbourhood(0), std::vector{0, 1, 2, 3}));
    EXPECT_TRUE(graph.hears(1, 0));
    EXPECT_FALSE(graph.hears(0, 1));
    EXPECT_EQ(graph.edges().size(), 4U);  // pairs, whatever their directions
}

TEST(DirectedGraph, HasStrongComponents) {
    const Graph graph = Graph::from_arcs(5, {{0, 1}, {1, 0}, {1, 2}, {2, 3}, {3, 4}, {4, 2}});
    EXPECT_EQ(graph.components(), (std::vector{0, 0, 1, 1, 1}));
    EXPECT_FALSE(graph.connected());
    EXPECT_TRUE(Graph::from_arcs(3, {{0, 1}, {1, 2}, {2, 0}}).connected());
    EXPECT_FALSE(Graph::from_arcs(3, {{0, 1}, {1, 2}}).connected());
    const std::vector<int> kept{2, 3, 4};
    const Graph part = graph.induced_subgraph(kept);
    EXPECT_TRUE(part.directed());
    EXPECT_TRUE(part.connected());
    EXPECT_EQ(part.arcs(), (std::vector<Arc>{{0, 1}, {1, 2}, {2, 0}}));
}

TEST(DirectedGraph, HasAnotherHashThanWithoutDirectionsOrWithOthers) {
    const std::vector<Arc> ring{{0, 1}, {1, 2}, {2, 0}}, back{{1, 0}, {2, 1}, {0, 2}};
    const Graph graph = Graph::from_arcs(3, ring);
    EXPECT_NE(graph.hash(), Graph::from_edges(3, ring).hash());
    EXPECT_NE(graph.hash(), Graph::from_arcs(3, back).hash());
    EXPECT_EQ(graph.hash(), Graph::from_links(3, true, ring).hash());
}

TEST(Graph, SendsBothWaysAlongAnEdge) {
    for (const auto& [name, graph] : test::sample_graphs()) {
        EXPECT_FALSE(graph.directed());
        EXPECT_EQ(graph.messages(), 2 * graph.edges().size()) << name;
        EXPECT_EQ(Graph::from_links(graph.agents(), false, graph.links()).hash(), graph.hash());
        for (int u = 0; u < graph.agents(); ++u) {
            EXPECT_TRUE(std::ranges::equal(graph.heard(u), graph.neighbours(u))) << name;
            EXPECT_TRUE(std::ranges::equal(graph.hearers(u), graph.neighbours(u))) << name;
        }
    }
}

}  // namespace
}  // namespace sotto
