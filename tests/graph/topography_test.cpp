#include "graph/topography.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "graph/graph_fixtures.hpp"

namespace sotto {
namespace {

using test::make;

Topography of_rules(const Graph& graph, const std::vector<MixingRule>& later) {
    Topography result{graph, MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    for (const MixingRule rule : later)
        result.later_mixing.push_back(MixingMatrix::from_rule(graph, rule));
    return result;
}

TEST(Topography, WithOneMatrixMixesAlikeInEveryRound) {
    for (const auto& [name, graph] : test::sample_graphs()) {
        const Topography topography = of_rules(graph, {});
        EXPECT_TRUE(topography.schedule().fixed()) << name;
        for (const long round : {0L, 1L, 1000L})
            EXPECT_EQ(topography.schedule().at(round).hash(), topography.mixing.hash()) << name;
        EXPECT_EQ(topography.mixing_hash(), topography.mixing.hash()) << name;
    }
}

TEST(Topography, RepeatsItsMatricesInOrder) {
    const Topography topography = of_rules(
        make(Topology::star, 6), {MixingRule::lazy_metropolis, MixingRule::row_stochastic});
    const MixingSchedule schedule = topography.schedule();
    ASSERT_EQ(schedule.period(), 3);
    for (const long round : {0L, 3L, 300L}) {
        EXPECT_EQ(schedule.at(round).hash(), topography.mixing.hash());
        EXPECT_EQ(schedule.at(round + 1).hash(), topography.later_mixing[0].hash());
        EXPECT_EQ(schedule.at(round + 2).hash(), topography.later_mixing[1].hash());
    }
    EXPECT_EQ(topography.mixing_hash(), schedule.hash());
}

TEST(Topography, ItsMixingHashSeesEveryMatrixAndTheirOrder) {
    const Graph graph = make(Topology::star, 6);
    const std::vector<Topography> all{
        of_rules(graph, {}),
        of_rules(graph, {MixingRule::metropolis}),
        of_rules(graph, {MixingRule::lazy_metropolis, MixingRule::row_stochastic}),
        of_rules(graph, {MixingRule::row_stochastic, MixingRule::lazy_metropolis})};
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i].mixing_hash(), all[j].mixing_hash());
}

}  // namespace
}  // namespace sotto
