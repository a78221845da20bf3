#include "options/graph_options.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "options/option_set.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

OptionSet<GraphConfig> graph_option_set() { return OptionSet<GraphConfig>().add(graph_options()); }

TEST(GraphOptions, DescribeATopology) {
    const GraphConfig config = graph_option_set().read({{"topology", "geometric"},
                                                        {"agents", "9"},
                                                        {"radius", "0.4"},
                                                        {"graph-seed", "3"},
                                                        {"mixing", "uniform"}});
    EXPECT_EQ(config.topology.topology, Topology::geometric);
    EXPECT_EQ(config.topology.agents, 9);
    EXPECT_EQ(config.topology.radius, 0.4);
    EXPECT_EQ(config.topology.graph_seed, 3U);
    EXPECT_EQ(config.mixing, "uniform");
    EXPECT_EQ(config.file, std::nullopt);
}

TEST(GraphOptions, NameEveryTopologyInTheirHelp) {
    const auto groups = graph_option_set().written();
    for (const std::string& name : topology_names())
        expect_contains(find_option(groups, "topology")->help, name);
    EXPECT_EQ(find_option(groups, "radius")->text, std::nullopt);
}

TEST(GraphOptions, RefuseNamesAndNumbersThatCannotBe) {
    expect_contains(message_of<ConfigError>([] {
                        (void)graph_option_set().read({{"topology", "rnig"}});
                    }),
                    "did you mean 'ring'");
    expect_contains(message_of<ConfigError>([] {
                        (void)graph_option_set().read({{"agents", "0"}});
                    }),
                    "--agents: 0 is not allowed (must be at least 1)");
    expect_contains(message_of<ConfigError>([] {
                        (void)graph_option_set().read({{"agents", "4294967297"}});
                    }),
                    "100000");
}

}  // namespace
}  // namespace sotto
