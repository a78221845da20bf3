#include "account/departures.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

std::vector<Phase> phases_by(const Topography& topography,
                             const std::string& mixing,
                             const std::string& departures) {
    GraphConfig config;
    config.mixing = mixing;
    PlanConfig plan;
    plan.mechanism = "corn";
    plan.rounds = 10;
    return phases_of(topography, config, plan, departures);
}

TEST(PhasesOf, MixAmongThoseWhoStay) {
    const Graph graph = Graph::from_edges(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {1, 3}});
    const Topography topography{graph, MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    const auto phases = phases_by(topography, "metropolis", "4:2;6:0");
    ASSERT_EQ(phases.size(), 3u);
    EXPECT_EQ(phases[0].rounds, 4);
    EXPECT_EQ(phases[1].rounds, 2);
    EXPECT_EQ(phases[2].rounds, 4);
    EXPECT_TRUE(phases[0].departed.empty());
    EXPECT_EQ(phases[1].departed, (std::vector<int>{2}));
    EXPECT_EQ(phases[2].departed, (std::vector<int>{0, 2}));
    EXPECT_EQ(phases[0].mixing.at(0).dense(), topography.mixing.dense());
    // Without 2: edges 01, 13, 34, 40, all degrees 2.
    const MixingMatrix& second = phases[1].mixing.at(0);
    EXPECT_EQ(second.weight(2, 2), 1);
    for (const auto& [u, v] : std::vector<Edge>{{0, 1}, {1, 3}, {3, 4}, {0, 4}})
        EXPECT_NEAR(second.weight(u, v), 1.0 / 3, 1e-15);
    EXPECT_EQ(second.weight(1, 2), 0);
    // Without 0 and 2: the path 1 - 3 - 4.
    EXPECT_NEAR(phases[2].mixing.at(0).weight(1, 1), 2.0 / 3, 1e-15);
    EXPECT_NEAR(phases[2].mixing.at(0).weight(3, 3), 1.0 / 3, 1e-15);

    const auto refused = [&](const std::string& departures) {
        return message_of<ConfigError>(
            [&] { (void)phases_by(topography, "metropolis", departures); });
    };
    expect_contains(refused("4"), "ROUND:AGENTS");
    expect_contains(refused("0:1"), "from 1 to 9");
    expect_contains(refused("10:1"), "from 1 to 9");
    expect_contains(refused("5:1;5:2"), "ascend");
    expect_contains(refused("3:1;5:1"), "agent 1 has already left");
    expect_contains(refused("3:0,1,2,3,4"), "nobody is left");
    expect_contains(refused("3:9"), "agent 9 does not exist");
    expect_contains(
        message_of<ConfigError>([&] { (void)phases_by(topography, "some.npy", "3:1"); }),
        "some.npy");
}

TEST(PhasesOf, OptimiseWeightsAmongThoseWhoStay) {
    const Graph graph = Graph::from_edges(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {1, 3}});
    const Topography topography{graph, MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    // In the end 1 - 2 and 4 are apart.
    const auto phases = phases_by(topography, "optimised", "4:0;6:3");
    ASSERT_EQ(phases.size(), 3u);
    for (const Phase& phase : phases) {
        const MixingMatrix& mixing = phase.mixing.at(0);
        EXPECT_TRUE(mixing.symmetric());
        for (const int gone : phase.departed) EXPECT_EQ(mixing.weight(gone, gone), 1);
    }
    EXPECT_NEAR(phases[2].mixing.at(0).weight(1, 2), 0.5, 0.01);
    EXPECT_EQ(phases[2].mixing.at(0).weight(4, 4), 1);
}

TEST(MixingOfAll, LeavesWhoIsGoneToItself) {
    const Graph graph = Graph::from_edges(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
    const Membership members{4, {0, 1, 3}};
    const Graph there = graph.induced_subgraph(members.numbers);
    const MixingMatrix mixing = MixingMatrix::from_rule(there, MixingRule::metropolis);
    const MixingMatrix all = mixing_of_all(graph, mixing, members);
    EXPECT_EQ(all.weight(2, 2), 1);
    EXPECT_EQ(all.weight(1, 2), 0);
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
            EXPECT_EQ(all.weight(members.number(a), members.number(b)), mixing.weight(a, b));
    EXPECT_TRUE((all.dense() * Eigen::VectorXd::Ones(4)).isOnes(1e-15));
}

}  // namespace
}  // namespace sotto
