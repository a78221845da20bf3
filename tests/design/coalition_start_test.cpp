#include "design/coalition_start.hpp"

#include <gtest/gtest.h>

#include "design/coalition_excess.hpp"
#include "design/coalition_fixtures.hpp"
#include "design/group_layout_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::VectorXd;

std::vector<Coalition> single_agents(int agents) {
    std::vector<Coalition> coalitions;
    for_each_coalition(
        agents, 1, [&](const Coalition& coalition) { coalitions.push_back(coalition); });
    return coalitions;
}

TEST(PrivateValues, ProtectEveryoneWithoutOthers) {
    const VectorXd kappa = random_kappa(7, 3);
    for (const bool common : {false, true}) {
        const GroupLayout layout(7, all_pairs(7), GroupNoise::difference, common);
        const VectorXd values = private_values(layout, kappa);
        EXPECT_EQ(values.tail(values.size() - layout.variances()).norm(), 0);
        EXPECT_NEAR(largest_excess(layout, values, kappa, 2), 1, 1e-12);
    }
}

TEST(FirstValues, AreFeasibleAndShareSomeNoise) {
    const Graph graph = make_graph(Topology::erdos_renyi, 9, 4);
    const VectorXd kappa = random_kappa(9, 3);
    for (const GroupNoise shape : {GroupNoise::difference, GroupNoise::free})
        for (const bool common : {false, true}) {
            const GroupLayout layout(9, edge_groups(graph), shape, common);
            const VectorXd cost = layout.along(horizon_utility(graph, 20));
            const VectorXd cap = 100 * kappa.cwiseInverse();
            const VectorXd values = first_values(layout, cost, cap, kappa, single_agents(9));
            EXPECT_NEAR(largest_excess(layout, values, kappa, 1), 1, 1e-9);
            for (std::size_t k = 0; k < layout.groups().size(); ++k)
                EXPECT_GT(layout.block(values, k).norm(), 0);
            EXPECT_LT(cost.dot(values), 1.3 * cost.dot(private_values(layout, kappa)));
        }
}

TEST(FirstValues, AreNoDearerThanTheSameNoiseInEveryPair) {
    const Graph graph = make_graph(Topology::erdos_renyi, 12, 4);
    const VectorXd kappa = VectorXd::Ones(12);
    const GroupLayout layout(12, edge_groups(graph), GroupNoise::difference, false);
    const VectorXd cost = layout.along(horizon_utility(graph, 20));
    const double value =
        cost.dot(first_values(layout, cost, 1e4 * kappa, kappa, single_agents(12)));
    VectorXd even = private_values(layout, kappa);
    even.tail(even.size() - 12)
        .setConstant(0.3 * 12 / (2. * static_cast<double>(layout.groups().size())));
    even *= largest_excess(layout, even, kappa, 1);
    EXPECT_LE(value, cost.dot(even) * (1 + 1e-12));
}

TEST(IsUneven, KnowsAStarFromARing) {
    const auto uneven = [](const Graph& graph) {
        return is_uneven(
            GroupLayout(graph.agents(), edge_groups(graph), GroupNoise::difference, false));
    };
    EXPECT_TRUE(uneven(make_graph(Topology::star, 40)));
    EXPECT_FALSE(uneven(make_graph(Topology::ring, 40)));
    EXPECT_FALSE(is_uneven(GroupLayout(4, {}, GroupNoise::difference, false)));
}

}  // namespace
}  // namespace sotto
