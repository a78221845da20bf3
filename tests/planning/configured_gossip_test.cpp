#include "planning/configured_gossip.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "planning/build_topography.hpp"
#include "planning/planning_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;
using test::random_topography;

TEST(ConfiguredGossip, IsPlainUnlessWeightsAreAskedFor) {
    const Topography topography = random_topography(8);
    PlanConfig config = config_of("ldp");
    config.gossip_steps = 4;
    EXPECT_TRUE(configured_gossip(config, topography.mixing).plain());
    config.gossip = GossipRule::chebyshev;
    EXPECT_FALSE(configured_gossip(config, topography.mixing).plain());
    config.gossip = GossipRule::optimal;
    const GossipPolynomial own = configured_gossip(config, topography.mixing);
    config.mechanism = "corn";
    const GossipPolynomial shared = configured_gossip(config, topography.mixing);
    EXPECT_TRUE(own.combines() && shared.combines());
    EXPECT_NE(own.share(0), shared.share(0)) << "what is least depends on whose noise it is";
}

TEST(ConfiguredGossip, IsOptimalOnlyWhereItIsKnownWhatItDoes) {
    PlanConfig config = config_of("zip-dl");
    config.gossip = GossipRule::optimal;
    expect_contains(
        message_of<ConfigError>([&] { require_possible_smoothing(config, random_topography(5)); }),
        "gossip: optimal is not possible with mechanism zip-dl");
    config.mechanism = "pairs";
    EXPECT_NO_THROW(require_possible_smoothing(config, random_topography(5)));
    expect_contains(
        message_of<ConfigError>([&] { (void)sum_rules(config, random_topography(5), 0); }),
        "gossip: optimal is not possible with secure sums");
}

TEST(FinalGossip, ThatIsLeftOpenBringsAgentsTogetherAtLittleCost) {
    const Topography topography = random_topography(12);
    PlanConfig config = config_of("pairs");
    config.rounds = 1000;
    config.final_gossip.reset();
    const int steps = final_gossip_steps(config, topography.schedule());
    EXPECT_EQ(steps, consensus_steps(topography.mixing, GossipRule::chebyshev, 0.05, 1000));
    config.rounds = 40;
    EXPECT_LE(final_gossip_steps(config, topography.schedule()), 2);
    config.rounds = 1;
    EXPECT_EQ(final_gossip_steps(config, topography.schedule()), 1);
    config.final_gossip = 17;
    EXPECT_EQ(final_gossip_steps(config, topography.schedule()), 17);
}

TEST(FinalGossip, ThatIsLeftOpenSendsNoModelsThatNoiseDoesNotHide) {
    const Topography topography = random_topography(5);
    for (const char* mechanism : {"zip-dl", "homomorphic", "laplace", "cdp"}) {
        PlanConfig config = config_of(mechanism);
        config.final_gossip.reset();
        EXPECT_EQ(final_gossip_steps(config, topography.schedule()), 0) << mechanism;
    }
}

TEST(Smoothing, KeepsItsTailWhereARunIsTakenUp) {
    const Topography topography = random_topography(5);
    PlanConfig config = config_of("ldp");
    config.rounds = 30;
    config.average = {ModelAverage::Kind::tail, 0.5};
    EXPECT_EQ(configured_smoothing(config, topography).tail_rounds, 15);
    config.steps.first_round = 20;
    config.rounds = 10;
    EXPECT_EQ(configured_smoothing(config, topography).tail_rounds, 15);
}

TEST(Smoothing, IsRefusedWhereItCannotBeCounted) {
    const Topography topography = random_topography(6);
    const auto refusal = [&](PlanConfig config, const Topography& where) {
        return message_of<ConfigError>([&] { require_possible_smoothing(config, where); });
    };
    PlanConfig moving = config_of("zip-dl");
    moving.momentum = 0.5;
    expect_contains(refusal(moving, topography), "momentum: not possible with mechanism zip-dl");
    PlanConfig sending = config_of("homomorphic");
    sending.final_gossip = 3;
    expect_contains(refusal(sending, topography), "does not hide the models");
    PlanConfig correlated = config_of("mafalda");
    correlated.momentum = 0.5;
    expect_contains(refusal(correlated, topography), "momentum");
    Topography changing = topography;
    changing.later_mixing.push_back(topography.mixing);
    for (const auto& change : std::vector<std::function<void(PlanConfig&)>>{
             [](PlanConfig& c) { c.gossip = GossipRule::chebyshev; },
             [](PlanConfig& c) { c.momentum = 0.5; },
             [](PlanConfig& c) { c.final_gossip = 1; },
             [](PlanConfig& c) {
                 c.average = {ModelAverage::Kind::tail, 0.5};
             }}) {
        PlanConfig config = config_of("ldp");
        EXPECT_NO_THROW(require_possible_smoothing(config, changing));
        change(config);
        expect_contains(refusal(config, changing), "--mixing-schedule");
    }
}

TEST(Smoothing, IsNoMeanOfModelsWithPushSum) {
    const Graph graph = Graph::from_arcs(3, {{0, 1}, {1, 2}, {2, 0}, {0, 2}});
    const Topography sums{graph, MixingMatrix::from_rule(graph, MixingRule::push_sum)};
    PlanConfig config = config_of("ldp");
    EXPECT_NO_THROW(require_possible_smoothing(config, sums));
    config.average = {ModelAverage::Kind::tail, 0.5};
    expect_contains(message_of<ConfigError>([&] { require_possible_smoothing(config, sums); }),
                    "average: tail:0.5 is not possible with --mixing push-sum");
}

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

TEST(PushSumLimits, AreRegularisationAndNoiseOnMessages) {
    const Graph graph = Graph::from_arcs(3, {{0, 1}, {1, 2}, {2, 0}});
    const Topography sums{graph, MixingMatrix::from_rule(graph, MixingRule::push_sum)};
    const Topography means{graph, MixingMatrix::from_rule(graph, MixingRule::row_stochastic)};
    NoisePlan plan;
    plan.mechanism = "laplace";
    plan.agents = 3;
    EXPECT_NO_THROW(require_possible_push_sum(sums, plan, 0));
    expect_contains(message_of<ConfigError>([&] { require_possible_push_sum(sums, plan, 0.01); }),
                    "l2: 0.01 is not possible with --mixing push-sum");
    EXPECT_NO_THROW(require_possible_push_sum(means, plan, 0.01));
    plan.entry = NoiseEntry::message;
    expect_contains(message_of<ConfigError>([&] { require_possible_push_sum(sums, plan, 0); }),
                    "push-sum is not possible with a plan of mechanism laplace");
    EXPECT_NO_THROW(require_possible_push_sum(means, plan, 0));
}

}  // namespace
}  // namespace sotto
