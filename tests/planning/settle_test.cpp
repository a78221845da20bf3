#include "planning/settle.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "config/run_fixtures.hpp"
#include "fuzz/support.hpp"
#include "net/memory_network.hpp"
#include "planning/budgets.hpp"
#include "planning/planning_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;
using test::random_topography;

// What is still open cannot be counted or planned for: it does not compile.
static_assert(!std::is_convertible_v<AskedPlan, SettledPlan>);
static_assert(!std::is_constructible_v<SettledPlan, AskedPlan&>);

constexpr OpenChoice choice_of_k{"K", "--gossip-steps auto", "--gossip-steps K"};

/// What process `process` of two makes of process 0's word.
std::string word_heard(int process, const std::string& said, bool open, const std::string& own) {
    fuzz::ScriptedNetwork network(
        2, process, said, [](int) { return std::vector<std::string>(2); });
    return agree_on_choice(network, choice_of_k, open, own);
}

TEST(AgreedChoice, IsProcessZerosForAllWhoLeaveItOpen) {
    EXPECT_EQ(word_heard(0, "", true, "4"), "4");
    EXPECT_EQ(word_heard(1, "4", true, "4"), "4");
    EXPECT_EQ(word_heard(1, "4", true, ""), "4");
    EXPECT_EQ(word_heard(1, "4", false, ""), "");
    EXPECT_EQ(word_heard(0, "", false, ""), "");
}

TEST(AgreedChoice, RefusesSilenceAndAnotherChoice) {
    expect_contains(message_of<NetworkError>([] { (void)word_heard(1, "", true, "4"); }),
                    "rank 1 leaves K of --gossip-steps auto to rank 0, which chose none");
    expect_contains(message_of<NetworkError>([] { (void)word_heard(1, "8", true, "4"); }),
                    "rank 1 chose K = 4 for --gossip-steps auto, rank 0 8; start all ranks");
    EXPECT_THROW((void)word_heard(1, std::string(65, '1'), true, ""), NetworkError);
}

constexpr long many_parameters = 10'000'000;

AskedPlan open_cycle() {
    AskedPlan plan(config_of("mafalda"));
    plan.epsilon = 10;
    plan.rounds = 60;
    plan.adjacency = Adjacency::record_add_remove;
    plan.participation = {.cycle = 1, .poisson = true};
    plan.batch_size = 100;
    plan.sampling_probability = 0.0427;
    plan.open = {.temporal = true, .cycle = true};
    return plan;
}

AskedPlan open_gossip_steps(const std::string& mechanism) {
    AskedPlan plan(config_of(mechanism));
    plan.gossip = GossipRule::chebyshev;
    plan.utility = {Utility::Kind::horizon, 50};
    plan.open.gossip_steps = true;
    return plan;
}

AskedPlan open_shape() {
    AskedPlan plan(config_of("mafalda"));
    plan.batch_size = 1;
    plan.temporal.restart = 15;
    plan.open.temporal = true;
    return plan;
}

TEST(SettledPlan, IsTheSameAloneAndTogether) {
    const Topography topography = random_topography(6);
    const auto network = make_memory_network(6, 1);
    for (const AskedPlan& asked : {open_cycle(), open_gossip_steps("corn"), open_shape()}) {
        const PlanInputs inputs{.topography = topography, .dimension = many_parameters};
        const Settlement alone = settle(asked, inputs);
        const Settlement together = settle(asked, inputs, *network, true);
        EXPECT_EQ(alone.plan.temporal, together.plan.temporal);
        EXPECT_EQ(alone.plan.temporal.restart, together.plan.temporal.restart);
        EXPECT_EQ(alone.plan.participation.cycle, together.plan.participation.cycle);
        EXPECT_EQ(alone.plan.gossip_steps, together.plan.gossip_steps);
    }
}

TEST(SettledPlan, HasTheCycleOfLeastNoiseAndItsBand) {
    const Topography topography = random_topography(6);
    const Settlement settled = settle(open_cycle(), {.topography = topography});
    const CycleChoice choice = choose_cycle(open_cycle(), topography, {});
    EXPECT_EQ(settled.plan.participation.cycle, choice.best().cycle);
    EXPECT_EQ(settled.plan.temporal.kind, TemporalShape::Kind::banded);
    EXPECT_EQ(settled.plan.temporal.band, choice.best().band);
    EXPECT_TRUE(settled.choices.temporal.candidates.empty()) << "the cycle brings its own band";
    AskedPlan said = open_cycle();
    said.open.cycle = false;
    said.participation.cycle = 3;
    const Settlement same = settle(said, {.topography = topography});
    EXPECT_EQ(same.plan.participation.cycle, 3);
    EXPECT_EQ(text_of(same.choices.cycle), "");
}

TEST(SettledPlan, HasTheLeastGossipStepsThatAreEnough) {
    const Topography topography = random_topography(8);
    const Settlement settled = settle(open_gossip_steps("corn"), {.topography = topography});
    EXPECT_EQ(settled.plan.gossip_steps, settled.choices.gossip.chosen);
    AskedPlan said = open_gossip_steps("corn");
    said.open.gossip_steps = false;
    said.gossip_steps = 3;
    EXPECT_EQ(settle(said, {.topography = topography}).plan.gossip_steps, 3);
}

/// After settle_exchanges on one process, with nibbles.
AskedPlan with_exchanges(AskedPlan plan, bool designed_mixing = false) {
    const Topography topography = random_topography(20);
    const auto network = make_memory_network(20, 1);
    const GossipChoice choice = settle_exchanges(plan,
                                                 {.topography = topography,
                                                  .dimension = 100,
                                                  .precision = MessagePrecision::nibble,
                                                  .designed_mixing = designed_mixing},
                                                 true,
                                                 *network,
                                                 true);
    EXPECT_EQ(choice.precision, MessagePrecision::nibble);
    EXPECT_EQ(plan.variance_cap, variance_cap_of_nibbles);
    return plan;
}

AskedPlan usual_exchanges() {
    AskedPlan plan(config_of("pairs"));
    plan.open = {.temporal = false, .usual_gossip = true, .usual_gossip_steps = true};
    return plan;
}

TEST(SettledExchanges, AreChosenWhereTheyAreNotGiven) {
    const AskedPlan chosen = with_exchanges(usual_exchanges());
    EXPECT_GT(chosen.gossip_steps, 1);
    EXPECT_EQ(chosen.gossip, GossipRule::chebyshev);
    EXPECT_FALSE(chosen.open.gossip_steps);
    EXPECT_EQ(chosen.rounds, usual_exchanges().rounds) << "which the tuning rule chooses later";
    AskedPlan plain = usual_exchanges();
    plain.open.usual_gossip = false;
    EXPECT_EQ(with_exchanges(plain).gossip, GossipRule::plain);
    EXPECT_GE(with_exchanges(plain).gossip_steps, chosen.gossip_steps);
}

TEST(SettledExchanges, StayAsGivenAndWhereTheyCannotBeChosenYet) {
    AskedPlan six = usual_exchanges();
    six.open.usual_gossip_steps = false;
    six.gossip_steps = 6;
    EXPECT_EQ(with_exchanges(six).gossip_steps, 6);
    EXPECT_EQ(with_exchanges(six).gossip, GossipRule::chebyshev) << "which is not given";
    six.open.usual_gossip = false;
    EXPECT_EQ(with_exchanges(six).gossip, GossipRule::plain);
    AskedPlan limited = usual_exchanges();
    limited.max_bytes = 1e12;
    EXPECT_TRUE(with_exchanges(limited).open.gossip_steps) << "rounds must be known";
    EXPECT_EQ(with_exchanges(limited).gossip, GossipRule::plain);
    EXPECT_EQ(with_exchanges(usual_exchanges(), true).gossip_steps, 1);
    AskedPlan messages = usual_exchanges();
    messages.mechanism = "muffliato";
    EXPECT_EQ(with_exchanges(messages).gossip_steps, 1);
}

TEST(SettledExchanges, AreCheckedByThoseWhoDoNotChoose) {
    const Topography topography = random_topography(2);
    const auto heard = [&](const std::string& said) {
        fuzz::ScriptedNetwork network(2, 1, said, [](int) { return std::vector<std::string>(2); });
        AskedPlan plan = usual_exchanges();
        const GossipChoice choice =
            settle_exchanges(plan,
                             {.topography = topography, .precision = MessagePrecision::nibble},
                             true,
                             network,
                             false);
        EXPECT_EQ(choice.precision == MessagePrecision::nibble, plan.variance_cap < 1e4);
        return plan;
    };
    EXPECT_EQ(heard("4 chebyshev nibble").gossip_steps, 4);
    EXPECT_EQ(heard("4 chebyshev float32").gossip, GossipRule::chebyshev);
    for (const char* said : {"",
                             "4 chebyshev",
                             "4 chebyshev nibble 1",
                             "0 plain nibble",
                             "1001 plain nibble",
                             "4 none nibble",
                             "4 plain short"})
        EXPECT_ANY_THROW((void)heard(said)) << said;
}

TEST(SettledExchanges, MustBeLeftToRankZero) {
    const Topography topography = random_topography(2);
    const auto heard = [&](const AskedPlan& asked, bool precision_open, const std::string& said) {
        fuzz::ScriptedNetwork network(2, 1, said, [](int) { return std::vector<std::string>(2); });
        AskedPlan plan = asked;
        return message_of<NetworkError>([&] {
            (void)settle_exchanges(
                plan, {.topography = topography}, precision_open, network, false);
        });
    };
    AskedPlan three = usual_exchanges();
    three.open.usual_gossip_steps = false;
    three.open.usual_gossip = false;
    three.gossip_steps = 3;
    expect_contains(heard(three, true, "4 plain float64"), "not all of them are left to it");
    expect_contains(heard(three, true, "3 chebyshev float64"), "not all of them are left to it");
    expect_contains(heard(usual_exchanges(), false, "4 plain nibble"), "not all of them are left");
}

TEST(SettledPlan, KeepsWhereTheTemporalFactorBeginsAnew) {
    const Topography topography = random_topography(6);
    const PlanInputs inputs{.topography = topography, .dimension = many_parameters};
    const Settlement settled = settle(open_shape(), inputs);
    EXPECT_EQ(settled.plan.temporal, settled.choices.temporal.best());
    EXPECT_EQ(settled.plan.temporal.restart, 15);
    AskedPlan said = open_shape();
    said.open.temporal = false;
    said.temporal = {TemporalShape::Kind::banded, 2, 0};
    const Settlement same = settle(said, inputs);
    EXPECT_TRUE(same.choices.temporal.candidates.empty());
    EXPECT_EQ(same.plan.temporal, said.temporal);
}

TEST(SettledPlan, KeepsTheFactorOfAPlanWithoutAChoice) {
    AskedPlan asked(config_of("mafalda"));
    asked.adjacency = Adjacency::agent;
    asked.participation = {};
    asked.open.temporal = true;
    const Topography topography = random_topography(5);
    EXPECT_EQ(settle(asked, {.topography = topography}).plan.temporal.kind,
              TemporalShape::Kind::dense);
}

TEST(SettledPlan, HasNoFinalGossipWhereRoundsAloneAreAskedAbout) {
    const Topography topography = random_topography(4);
    AskedPlan asked(config_of("ldp"));
    asked.open.final_gossip = true;
    EXPECT_EQ(settle(asked, {.topography = topography}).plan.final_gossip, std::nullopt);
    EXPECT_EQ(settle(asked, {.topography = topography, .rounds_alone = true}).plan.final_gossip, 0);
    EXPECT_EQ(settle(asked, {.topography = topography, .secure_sum = true}).plan.final_gossip, 0);
    asked.open.final_gossip = false;
    asked.final_gossip = 7;
    EXPECT_EQ(settle(asked, {.topography = topography, .rounds_alone = true}).plan.final_gossip, 7);
}

TEST(SettledPlan, NeedsAProcessThatChooses) {
    const Topography topography = random_topography(6);
    const auto network = make_memory_network(6, 1);
    for (const AskedPlan& asked : {open_cycle(), open_gossip_steps("corn"), open_shape()})
        expect_contains(message_of<NetworkError>([&] {
                            (void)settle(asked, {.topography = topography}, *network, false);
                        }),
                        "rank 0, which chose none");
}

/// What process 1, which solves no plans, makes of process 0's word about the temporal factor.
SettledPlan shape_heard(const std::string& said) {
    fuzz::ScriptedNetwork network(2, 1, said, [](int) { return std::vector<std::string>(2); });
    AskedPlan asked(config_of("mafalda"));
    asked.open.temporal = true;
    const Topography topography = random_topography(2);
    return settle(asked, {.topography = topography, .dimension = many_parameters}, network, false)
        .plan;
}

TEST(SettledPlan, TakesAShapeOfAPeerOrRefusesIt) {
    EXPECT_EQ(shape_heard("banded:3").temporal, (TemporalShape{TemporalShape::Kind::banded, 3, 0}));
    EXPECT_EQ(shape_heard("one-lag").temporal.kind, TemporalShape::Kind::one_lag);
    for (const std::string said : {"auto",
                                   "banded:",
                                   "banded:-1",
                                   "banded:1e9",
                                   "banded:9999999999999999999",
                                   "dense, begun anew every 3 rounds",
                                   "\n"})
        EXPECT_THROW((void)shape_heard(said), ConfigError) << said;
    EXPECT_THROW((void)shape_heard(std::string(100, 'x')), NetworkError);
}

}  // namespace
}  // namespace sotto
