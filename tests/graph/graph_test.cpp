#include "sotto/graph/graph.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iostream>
#include <set>

#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "graph_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::make;
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

std::vector<int> degrees(const Graph& graph) {
    std::vector<int> result;
    for (int u = 0; u < graph.agents(); ++u) result.push_back(graph.degree(u));
    return result;
}

std::vector<int> all(int agents, int degree) {
    return std::vector<int>(static_cast<std::size_t>(agents), degree);
}

TopologySpec erdos_renyi(int agents, double probability, std::uint64_t seed) {
    TopologySpec spec;
    spec.agents = agents;
    spec.edge_probability = probability;
    spec.graph_seed = seed;
    return spec;
}

TEST(Topology, NamesReadBackAndAMistypedOneIsSuggested) {
    ASSERT_EQ(topology_names().size(), 10U);
    for (const std::string& name : topology_names())
        EXPECT_EQ(name_of(parse_topology("--topology", name)), name);
    EXPECT_TRUE(
        contains(message_of<ConfigError>([] { (void)parse_topology("--topology", "friends.txt"); }),
                 "a graph of your own is --graph FILE"));
    EXPECT_TRUE(
        contains(message_of<ConfigError>([] { (void)parse_topology("--topology", "hypercub"); }),
                 "hypercube"));
}

TEST(Topology, EveryFamilyIsConnectedAtEverySizeItExistsFor) {
    for (const std::string& name : topology_names()) {
        int made = 0;
        for (int n = 1; n <= 40; ++n) {
            SCOPED_TRACE(name + " " + std::to_string(n));
            try {
                const Graph graph = make(parse_topology("--topology", name), n);
                EXPECT_EQ(graph.agents(), n);
                EXPECT_TRUE(graph.connected());
                ++made;
            } catch (const ConfigError&) {
                EXPECT_TRUE(name == "grid" || name == "torus" || name == "hypercube");
            }
        }
        EXPECT_GE(made, 6) << name;
    }
}

TEST(Topology, OneAgentIsAGraphWithoutEdgesInEveryFamily) {
    for (const std::string& name : topology_names())
        EXPECT_TRUE(make(parse_topology("--topology", name), 1).edges().empty()) << name;
}

TEST(Topology, DeterministicFamiliesHaveTheDegreesOfTheirDefinition) {
    EXPECT_EQ(degrees(make(Topology::ring, 2)), all(2, 1));
    EXPECT_EQ(degrees(make(Topology::path, 4)), (std::vector<int>{1, 2, 2, 1}));
    EXPECT_EQ(degrees(make(Topology::star, 4)), (std::vector<int>{3, 1, 1, 1}));
    EXPECT_EQ(degrees(make(Topology::grid, 6)), (std::vector<int>{2, 3, 2, 2, 3, 2}));
    EXPECT_EQ(degrees(make(Topology::grid, 9)), (std::vector<int>{2, 3, 2, 3, 4, 3, 2, 3, 2}));
    for (const int n : {3, 4, 7, 30}) {
        EXPECT_EQ(degrees(make(Topology::ring, n)), all(n, 2));
        EXPECT_EQ(degrees(make(Topology::complete, n)), all(n, n - 1));
    }
    for (const int n : {9, 12, 15, 20, 36}) EXPECT_EQ(degrees(make(Topology::torus, n)), all(n, 4));
    for (int k = 0; k <= 6; ++k)
        EXPECT_EQ(degrees(make(Topology::hypercube, 1 << k)), all(1 << k, k));
}

TEST(Topology, ExponentialNeighboursAreThePowersOfTwoAwayInBothDirections) {
    for (const int n : {2, 3, 8, 12, 16, 21}) {
        const Graph graph = make(Topology::exponential, n);
        for (int u = 0; u < n; ++u)
            for (int v = 0; v < n; ++v) {
                bool expected = false;
                for (int hop = 1; hop < n; hop *= 2)
                    expected = expected || (u + hop) % n == v || (v + hop) % n == u;
                const auto around = graph.neighbours(u);
                EXPECT_EQ(std::binary_search(around.begin(), around.end(), v), expected && u != v);
            }
    }
}

TEST(Topology, GridAndTorusAreAsSquareAsPossible) {
    // A grid r x c has r(c-1) + c(r-1) edges, a torus 2rc.
    EXPECT_EQ(make(Topology::grid, 36).edges().size(), 60U);
    EXPECT_EQ(make(Topology::grid, 24).edges().size(), 4U * 5 + 6U * 3);
    EXPECT_EQ(make(Topology::torus, 24).edges().size(), 48U);
}

TEST(Topology, ASizeAFamilyDoesNotHaveIsRefusedWithSizesItHas) {
    const auto message = [](Topology topology, int n) {
        return message_of<ConfigError>([=] { (void)make(topology, n); });
    };
    EXPECT_TRUE(contains(message(Topology::grid, 7), "6 or 8"));
    EXPECT_TRUE(contains(message(Topology::grid, 2), "try 4"));
    EXPECT_TRUE(contains(message(Topology::torus, 10), "9 or 12"));
    EXPECT_TRUE(contains(message(Topology::torus, 8), "try 9"));
    EXPECT_TRUE(contains(message(Topology::hypercube, 20), "16 or 32"));
    EXPECT_TRUE(contains(message(Topology::ring, 0), "0 given"));
}

TEST(Topology, TheSeedDecidesARandomGraphAndNothingElseDoes) {
    for (const Topology topology : {Topology::erdos_renyi, Topology::geometric}) {
        EXPECT_EQ(make(topology, 20, 7).hash(), make(topology, 20, 7).hash());
        EXPECT_NE(make(topology, 20, 7).hash(), make(topology, 20, 8).hash());
    }
    EXPECT_EQ(make(Topology::ring, 20, 7).hash(), make(Topology::ring, 20, 8).hash());
}

TEST(Topology, ErdosRenyiDrawsPairsInOrderAndARetryContinuesTheSequence) {
    int retries = 0;
    for (const std::uint64_t seed : {0U, 1U, 2U, 3U, 4U}) {
        const GeneratedGraph generated = make_topology(erdos_renyi(12, 0.2, seed));
        SeededRandom random(seed, "sotto.graph.erdos-renyi");
        std::vector<Edge> edges;
        for (int attempt = 1; attempt <= generated.attempts; ++attempt) {
            edges.clear();
            for (int u = 0; u < 12; ++u)
                for (int v = u + 1; v < 12; ++v)
                    if (random.uniform() < 0.2) edges.emplace_back(u, v);
            EXPECT_EQ(Graph::from_edges(12, edges).connected(), attempt == generated.attempts);
        }
        EXPECT_TRUE(std::ranges::equal(generated.graph.edges(), edges));
        retries += generated.attempts - 1;
    }
    EXPECT_GT(retries, 0) << "the probability is too high for this test to see a retry";
}

TEST(Topology, ErdosRenyiHasTheExpectedNumberOfEdges) {
    constexpr int agents = 100;
    constexpr int seeds = 20;
    for (const double p : {0.2, 0.5, 0.9}) {
        double edges = 0;
        for (std::uint64_t seed = 0; seed < seeds; ++seed)
            edges += static_cast<double>(
                make_topology(erdos_renyi(agents, p, seed)).graph.edges().size());
        const double pairs = seeds * agents * (agents - 1) / 2.0;
        EXPECT_NEAR(edges, p * pairs, 5 * std::sqrt(pairs * p * (1 - p))) << "seeds 0 to 19";
    }
    EXPECT_EQ(make_topology(erdos_renyi(30, 1.0, 0)).graph.edges().size(), 435U);
}

TEST(Topology, ErdosRenyiOfManyAgentsDrawsLinksWithTheSameProbability) {
    for (const bool directed : {false, true}) {
        TopologySpec spec = erdos_renyi(20'000, 0.001, 1);
        spec.directed = directed;
        const Graph graph = make_topology(spec).graph;
        EXPECT_EQ(graph.hash(), make_topology(spec).graph.hash());
        const double n = spec.agents, p = spec.edge_probability;
        const double pairs = directed ? n * (n - 1) : n * (n - 1) / 2;
        EXPECT_NEAR(static_cast<double>(graph.links().size()),
                    pairs * p,
                    5 * std::sqrt(pairs * p * (1 - p)))
            << "seed 1";
        double squares = 0;
        for (int u = 0; u < spec.agents; ++u) {
            const double away = static_cast<double>(graph.heard(u).size()) - (n - 1) * p;
            squares += away * away;
        }
        // Of a binomial number: (n - 1) p (1 - p), with a deviation of about (2 / n)^(1/2).
        EXPECT_NEAR(squares / n / ((n - 1) * p * (1 - p)), 1, 5 * std::sqrt(2.1 / n)) << "seed 1";
    }
}

void expect_near_points_joined(int agents, double radius, std::uint64_t seed) {
    SCOPED_TRACE(radius);
    TopologySpec spec;
    spec.topology = Topology::geometric;
    spec.agents = agents;
    spec.radius = radius;
    spec.graph_seed = seed;
    const GeneratedGraph generated = make_topology(spec);
    SeededRandom random(seed, "sotto.graph.geometric");
    const auto n = static_cast<std::size_t>(agents);
    std::vector<double> x(n), y(n);
    for (int attempt = 0; attempt < generated.attempts; ++attempt)
        for (std::size_t u = 0; u < n; ++u) {
            x[u] = random.uniform();
            y[u] = random.uniform();
        }
    std::vector<Edge> edges;
    for (std::size_t u = 0; u < n; ++u)
        for (std::size_t v = u + 1; v < n; ++v)
            if (std::hypot(x[u] - x[v], y[u] - y[v]) < radius)
                edges.emplace_back(static_cast<int>(u), static_cast<int>(v));
    EXPECT_TRUE(std::ranges::equal(generated.graph.edges(), edges));
}

TEST(Topology, GeometricJoinsExactlyTheNearPoints) {
    expect_near_points_joined(25, 0.45, 3);
    expect_near_points_joined(25, 1.2, 3);
    expect_near_points_joined(400, 0.1, 5);
}

TEST(Topology, ProbabilityAndRadiusOutOfRangeAreRefused) {
    for (const double p : {0.0, -0.1, 1.0001, not_a_number})
        EXPECT_TRUE(
            contains(message_of<ConfigError>([=] { (void)make_topology(erdos_renyi(5, p, 0)); }),
                     "edge probability"));
    for (const double r : {0.0, -1.0, not_a_number}) {
        TopologySpec spec;
        spec.topology = Topology::geometric;
        spec.radius = r;
        EXPECT_TRUE(
            contains(message_of<ConfigError>([&] { (void)make_topology(spec); }), "radius"));
    }
}

TEST(Topology, AProbabilityTooSmallToConnectIsRefusedWithOneToTry) {
    // The first is drawn 1000 times, the second is hopeless without drawing.
    for (const auto& [n, p] : {std::pair{20, 0.05}, std::pair{20000, 1e-6}}) {
        const std::string message =
            message_of<ConfigError>([=] { (void)make_topology(erdos_renyi(n, p, 1)); });
        const std::size_t at = message.find("try ");
        ASSERT_NE(at, std::string::npos) << message;
        EXPECT_NEAR(std::stod(message.substr(at + 4)), 2 * std::log(n) / n, 0.05 * std::log(n) / n);
    }
    TopologySpec spec;
    spec.topology = Topology::geometric;
    spec.radius = 1e-3;
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)make_topology(spec); }), "try"));
}

TEST(Topology, AProbabilityThatIsUnlikelyButPossibleIsStillDrawn) {
    // At 20 agents and p = 0.1 about one draw in a hundred is connected.
    const GeneratedGraph generated = make_topology(erdos_renyi(20, 0.1, 5));
    EXPECT_TRUE(generated.graph.connected());
    EXPECT_GT(generated.attempts, 1);
}

TEST(DirectedTopology, GoesOneWay) {
    const auto arcs_of = [](Topology topology, int agents) {
        TopologySpec spec;
        spec.topology = topology;
        spec.agents = agents;
        spec.directed = true;
        return make_topology(spec).graph.arcs();
    };
    EXPECT_EQ(arcs_of(Topology::ring, 4), (std::vector<Arc>{{0, 1}, {1, 2}, {2, 3}, {3, 0}}));
    const auto exponential = arcs_of(Topology::exponential, 16);
    EXPECT_EQ(exponential.size(), 64U);
    for (const auto& [u, v] : exponential)
        EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>((v - u + 16) % 16)));
    const auto torus = arcs_of(Topology::torus, 9);
    EXPECT_EQ(torus.size(), 18U);
    EXPECT_TRUE(std::ranges::find(torus, Arc{0, 1}) != torus.end());
    EXPECT_TRUE(std::ranges::find(torus, Arc{1, 0}) == torus.end());
}

TEST(DirectedTopology, DrawsStronglyConnectedGraphsOfBothDirections) {
    TopologySpec spec;
    spec.agents = 12;
    spec.edge_probability = 0.25;
    spec.directed = true;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        spec.graph_seed = seed;
        const Graph graph = make_topology(spec).graph;
        EXPECT_TRUE(graph.directed());
        EXPECT_TRUE(graph.connected());
        std::size_t both = 0;
        for (const auto& [u, v] : graph.arcs()) both += graph.hears(u, v) ? 1 : 0;
        EXPECT_LT(both, graph.messages());
        EXPECT_EQ(graph.hash(), make_topology(spec).graph.hash());
    }
}

TEST(DirectedTopology, IsRefusedForFamiliesWithoutDirections) {
    TopologySpec spec;
    spec.topology = Topology::star;
    spec.directed = true;
    const std::string refusal = test::message_of<ConfigError>([&] { (void)make_topology(spec); });
    EXPECT_TRUE(test::contains(refusal, "directed: on is not possible with topology star"));
    EXPECT_TRUE(test::contains(refusal, "erdos-renyi, ring, torus or exponential"));
}

}  // namespace
}  // namespace sotto
