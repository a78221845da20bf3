#include "planning/gossip_choice.hpp"

#include "config/run_fixtures.hpp"
#include "planning/planning_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/net/memory_network.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;

Topography sparse_topography(int agents) {
    GraphConfig config;
    config.topology.agents = agents;
    config.topology.edge_probability = 0.25;
    return build_topography(config, 1).topography;
}

PlanConfig left_open(const std::string& mechanism) {
    PlanConfig config = config_of(mechanism);
    config.gossip = GossipRule::chebyshev;
    config.utility = {Utility::Kind::horizon, 50};
    config.choose_gossip_steps = true;
    return config;
}

double noise_of(PlanConfig config, const Topography& topography, int steps) {
    config.choose_gossip_steps = false;
    config.gossip_steps = steps;
    return test::plan(config, topography).planned.design.objective;
}

TEST(GossipChoice, IsTheLeastThatComesNearTheTrustedAggregator) {
    const Topography topography = sparse_topography(12);
    const PlanConfig config = left_open("corn");
    const GossipChoice choice = choose_gossip_steps(config, topography, {}, 8 * 1);
    EXPECT_GT(choice.chosen, 1);
    EXPECT_LE(noise_of(config, topography, choice.chosen), 1.1 * choice.trusted);
    EXPECT_GT(noise_of(config, topography, choice.chosen - 1), 1.1 * choice.trusted);
    EXPECT_FALSE(choice.limited);
    expect_contains(text_of(choice), "K = " + std::to_string(choice.chosen));
}

TEST(GossipChoice, SettlesForWhatTheMechanismCanDo) {
    // Without shared seeds even exact averages leave n times the trusted aggregator's noise.
    const Topography topography = sparse_topography(8);
    const PlanConfig config = left_open("ldp");
    const GossipChoice choice = choose_gossip_steps(config, topography, {}, 8 * 1);
    EXPECT_NEAR(choice.wanted / choice.trusted, 1.1 * 8, 0.1);
    EXPECT_LE(noise_of(config, topography, choice.chosen), choice.wanted);
    if (choice.chosen > 1) {
        EXPECT_GT(noise_of(config, topography, choice.chosen - 1), choice.wanted);
    }
}

TEST(GossipChoice, KeepsWithinBytes) {
    const Topography topography = sparse_topography(12);
    PlanConfig config = left_open("corn");
    const double step = 8.0 * 10 * 2 * static_cast<double>(topography.graph.edges().size()) *
                        static_cast<double>(config.rounds);
    config.max_bytes = 3.5 * step;
    const GossipChoice choice = choose_gossip_steps(config, topography, {}, 8 * 10);
    EXPECT_LE(choice.chosen, 3);
    EXPECT_TRUE(choice.limited);
    EXPECT_LE(noise_of(config, topography, choice.chosen), choice.wanted);
    config.max_bytes = 0.5 * step;
    expect_contains(
        message_of<ConfigError>([&] { (void)choose_gossip_steps(config, topography, {}, 8 * 10); }),
        "max-bytes");
}

TEST(GossipChoice, IsOneStepWhereNothingIsMixedOrPlanned) {
    const Topography topography = sparse_topography(8);
    for (const char* mechanism : {"cdp", "none", "zip-dl"})
        EXPECT_EQ(choose_gossip_steps(left_open(mechanism), topography, {}, 8 * 1).chosen, 1)
            << mechanism;
}

TEST(GossipChoice, OfRankZeroIsTaken) {
    const Topography topography = sparse_topography(8);
    const auto network = make_memory_network(8, 1);
    const AgreedGossip agreed =
        agree_on_gossip(left_open("corn"), *network, topography, {}, 1, true);
    EXPECT_FALSE(agreed.config.choose_gossip_steps);
    EXPECT_EQ(agreed.config.gossip_steps, agreed.choice.chosen);
    PlanConfig settled = config_of("corn");
    settled.gossip_steps = 3;
    EXPECT_EQ(agree_on_gossip(settled, *network, topography, {}, 1, true).config.gossip_steps, 3);
}

TEST(GossipCosts, AreThoseOfOneTwoFourAndEightSteps) {
    const Topography topography = sparse_topography(8);
    const PlanConfig config = config_of("corn");
    const auto costs = compare_gossip_steps(config, topography, {}, 8 * 100);
    ASSERT_EQ(costs.size(), 4U);
    for (std::size_t i = 0; i < costs.size(); ++i) {
        EXPECT_EQ(costs[i].steps, 1 << i);
        EXPECT_EQ(costs[i].noise, noise_of(config, topography, costs[i].steps));
        EXPECT_EQ(costs[i].bytes, costs[0].bytes * costs[i].steps);
    }
}

}  // namespace
}  // namespace sotto
