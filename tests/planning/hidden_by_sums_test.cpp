#include "planning/hidden_by_sums.hpp"

#include "config/run_fixtures.hpp"
#include "planning/build_topography.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

Topography topography_of(Topology topology, int agents) {
    GraphConfig config;
    config.topology.topology = topology;
    config.topology.agents = agents;
    return build_topography(config, 1).topography;
}

SumHiding hidden_on(const Topography& topography, int coalition_size) {
    return hidden_by_sums(
        topography, Membership::everybody(topography.graph.agents()), {1, 16}, coalition_size, 0);
}

TEST(HiddenBySums, IsAskedForAtLeastOneColluder) {
    const Topography ring = topography_of(Topology::ring, 6);
    for (const int size : {0, 1}) {
        const SumHiding hiding = hidden_on(ring, size);
        EXPECT_EQ(hiding.asked, 1);
        EXPECT_EQ(hiding.against.size(), 1U);
    }
    EXPECT_THROW((void)hidden_on(ring, 2), ConfigError);
    EXPECT_THROW((void)hidden_on(topography_of(Topology::path, 2), 0), ConfigError);
    EXPECT_NO_THROW((void)hidden_on(topography_of(Topology::path, 1), 0));
}

TEST(HiddenBySums, NamesThoseWhoAreThereByNumber) {
    const Topography path = topography_of(Topology::path, 3);
    const SumHiding hiding = hidden_by_sums(path, {9, {2, 5, 7}}, {1, 16}, 0, 4);
    EXPECT_EQ(hiding.against.front().exposed_in(1), std::vector<int>{5});
    EXPECT_EQ(hiding.against.size(), 2U);
}

}  // namespace
}  // namespace sotto
