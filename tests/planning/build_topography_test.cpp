#include "planning/build_topography.hpp"

#include "config/run_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

TEST(BuildTopography, MakesTheConfiguredGraphAndSaysHow) {
    GraphConfig config;
    config.topology.topology = Topology::ring;
    config.topology.agents = 6;
    config.mixing = "lazy-metropolis";
    const BuiltTopography ring = build_topography(config, 1);
    EXPECT_EQ(ring.topography.graph.edges().size(), 6u);
    EXPECT_DOUBLE_EQ(ring.topography.mixing.weight(0, 0), 2.0 / 3);
    EXPECT_EQ(ring.description, "ring");
    EXPECT_TRUE(ring.notes.empty());

    config.topology.topology = Topology::erdos_renyi;
    config.topology.edge_probability = 0.25;
    const BuiltTopography random = build_topography(config, 1);
    EXPECT_TRUE(random.topography.graph.connected());
    expect_contains(random.description, "0.25");

    const TemporaryFolder folder;
    config.file = folder.write("two.edges", "1 2\n2 3\n7 8\n");
    const BuiltTopography file = build_topography(config, 1);
    EXPECT_EQ(file.topography.graph.agents(), 3);
    expect_contains(file.description, "two.edges");
    ASSERT_EQ(file.notes.size(), 1u);
    expect_contains(file.notes.front(), "3 of 5 agents");
    config.file = folder.path("missing.edges");
    EXPECT_THROW((void)build_topography(config, 1), DataError);
}

TEST(BuildTopography, ChangesMixingAsScheduled) {
    GraphConfig config;
    config.topology.topology = Topology::exponential;
    config.topology.agents = 8;
    EXPECT_TRUE(build_topography(config, 30).topography.later_mixing.empty());
    config.mixing_schedule = "one-peer";
    const BuiltTopography peers = build_topography(config, 30);
    EXPECT_EQ(peers.topography.later_mixing.size(), 2u);  // ceil(log2 8) rounds
    EXPECT_EQ(peers.description, "exponential, mixing schedule one-peer of 3 rounds");

    config.topology.topology = Topology::ring;
    config.mixing_schedule = "random";
    const BuiltTopography random = build_topography(config, 4);
    EXPECT_EQ(random.topography.later_mixing.size(), 3u);
    // The graph is the union of all rings.
    EXPECT_GT(random.topography.graph.edges().size(), 8u);
    for (long round = 0; round < 4; ++round)
        for (int u = 0; u < 8; ++u) {
            int heard = 0;
            for (int v = 0; v < 8; ++v)
                heard += random.topography.schedule().at(round).weight(u, v) > 0 ? 1 : 0;
            EXPECT_EQ(heard, 3) << "itself and two neighbours";
        }
}

TEST(BuildTopography, RefusesSchedulesThatDoNotExist) {
    const TemporaryFolder folder;
    GraphConfig config;
    config.mixing_schedule = "randon";
    expect_contains(message_of<ConfigError>([&] { (void)build_topography(config, 3); }),
                    "did you mean 'random'?");
    config.mixing_schedule = "random";
    config.file = folder.write("ring.edges", "0 1\n1 2\n2 0\n");
    expect_contains(message_of<ConfigError>([&] { (void)build_topography(config, 3); }),
                    "not of a --graph FILE");
}

TEST(AgentsOf, CountsThoseOfTheGraphThatIsUsed) {
    const TemporaryFolder folder;
    GraphConfig config;
    config.topology.agents = 7;
    EXPECT_EQ(agents_of(config), 7);
    config.file = folder.write("two.edges", "1 2\n2 3\n7 8\n");
    EXPECT_EQ(agents_of(config), 3);
}

TEST(BuildTopography, MakesDirectedGraphsAndSaysSo) {
    GraphConfig config;
    config.topology.topology = Topology::ring;
    config.topology.agents = 6;
    config.topology.directed = true;
    config.mixing = "push-sum";
    const BuiltTopography ring = build_topography(config, 1);
    EXPECT_EQ(ring.topography.graph.messages(), 6U);
    EXPECT_TRUE(ring.topography.mixing.push_sum());
    EXPECT_EQ(ring.description, "directed ring");

    const TemporaryFolder folder;
    config.file = folder.write("strong.edges", "1 2\n2 3\n3 1\n3 4\n");
    const BuiltTopography file = build_topography(config, 1);
    EXPECT_EQ(file.topography.graph.agents(), 3);
    expect_contains(file.description, "directed, file");
    ASSERT_EQ(file.notes.size(), 1U);
    expect_contains(file.notes.front(), "2 strong components; using the largest, 3 of 4 agents");
    config.mixing = "metropolis";
    expect_contains(message_of<ConfigError>([&] { (void)build_topography(config, 1); }),
                    "allowed with --directed");
}

}  // namespace
}  // namespace sotto
