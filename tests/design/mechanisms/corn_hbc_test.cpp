#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(CornHbc, IsNeverWorseThanPairsOfTheSameGroups) {
    for (const auto& setting : settings({6})) {
        SCOPED_TRACE(setting.named.name);
        for (const int q : {0, 1, 2}) {
            DesignInput input = setting.input(20);
            input.coalition_size = q;
            input.seed_groups = make_seed_groups("edges", setting.named.graph);
            EXPECT_LE(design_of("corn-hbc", input).objective,
                      design_of("pairs", input).objective * (1 + 3e-5));
        }
    }
}

TEST(CornHbc, CorrelatesOnlyAgentsThatShareAGroup) {
    // Closed neighbourhoods of a ring: agents up to two steps apart.
    const Graph graph = make_graph(Topology::ring, 8);
    const Setting setting{{"ring", graph}, MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    DesignInput input = setting.input(20);
    input.coalition_size = 1;
    input.seed_groups = make_seed_groups("neighbourhoods", graph);
    const Design design = design_of("corn-hbc", input);
    const Eigen::MatrixXd covariance = spatial_covariance(design.plan);
    for (int u = 0; u < 8; ++u)
        for (int v = 0; v < 8; ++v) {
            const int distance = std::min((u - v + 8) % 8, (v - u + 8) % 8);
            if (distance > 2)
                EXPECT_EQ(covariance(u, v), 0) << u << " " << v;
            else
                EXPECT_GT(std::abs(covariance(u, v)), 1e-3) << u << " " << v;
        }
    for (const NoiseStream& stream : design.plan.streams) {
        const auto group = static_cast<std::size_t>(stream.group);
        EXPECT_TRUE(design.plan.groups[group].members.size() == 1 ||
                    design.plan.groups[group].members.size() == 3);
    }
    EXPECT_LE(coalition_precision(design.plan, 1).maxCoeff(), 1 + 1e-9);
}

}  // namespace
}  // namespace sotto
