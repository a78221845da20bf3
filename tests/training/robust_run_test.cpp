#include "training/robust_run.hpp"

#include <gtest/gtest.h>

#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

TrainConfig lying_config(const TemporaryFolder& folder, const char* rule, const char* faults) {
    TrainConfig config = test::logistic_config(folder, 6, "pairs", 30);
    config.graph.topology.topology = Topology::complete;
    config.noise_seed = 5;
    config.robust = parse_robust_rule("robust", rule);
    config.faults = parse_round_faults("faults", faults);
    return config;
}

std::string refusal_of(const TrainConfig& config) {
    const auto network = make_memory_network(config.graph.topology.agents, 1);
    return message_of<ConfigError>([&] { (void)test::prepare(config, *network); });
}

TEST(RobustRun, IsRefusedWhereMessagesAreNotWhatTheRuleNeeds) {
    const TemporaryFolder folder;
    const auto with = [&](auto&& change, const char* rule = "clip") {
        TrainConfig config = lying_config(folder, rule, "");
        change(config);
        return refusal_of(config);
    };
    expect_contains(with([](TrainConfig& c) { c.secure_sum = true; }),
                    "robust: clip is not possible with --secure-sum on");
    expect_contains(with([](TrainConfig& c) { c.plan.mechanism = "cdp"; }),
                    "robust: clip is not possible with a trusted aggregator");
    expect_contains(with([](TrainConfig& c) { c.plan.correction = Correction::exact_diffusion; }),
                    "robust: clip is not possible with --correction");
    expect_contains(with([](TrainConfig& c) { c.plan.momentum = 0.5; }),
                    "robust: clip is not possible with --momentum");
    expect_contains(with([](TrainConfig& c) { c.precision = MessagePrecision::nibble; }),
                    "precision: nibble is not possible with --robust");
    expect_contains(with([](TrainConfig&) {}, "trimmed:3"),
                    "robust: trimmed:3 is not possible where agent 0 has 5 neighbours");
    expect_contains(refusal_of(lying_config(folder, "off", "lie:noise:6")),
                    "faults: agent 6 is to lie (allowed: agents from 0 to 5)");
}

TEST(RobustRun, NamesLiars) {
    const TemporaryFolder folder;
    const TrainResult result = test::train(lying_config(folder, "clip", "lie:noise:4:100"));
    EXPECT_EQ(result.evaluation.records.liars, 1);
    ASSERT_EQ(result.suspected.size(), 1U);
    EXPECT_EQ(result.suspected[0], (SuspectedAgent{4, 5, 5, 0}));
    expect_contains(text_of_suspected(result.suspected), "agent 4 by 5 of 5 neighbours");
    expect_contains(text_of_suspected(result.suspected), "(where nobody lies");
    expect_contains(text_of_suspected({{4, 5, 5, 5}}),
                    "agent 4 by 5 of 5 neighbours, without the noise that they share (messages of");
    expect_contains(text_of_suspected({{4, 5, 5, 2}}), "2 of them without the noise");
    EXPECT_EQ(text_of_suspected({}), "");
    EXPECT_EQ(text_of_suspected({{7, 2, 3, 0}}).find("(where nobody lies"),
              std::string("agent 7 by 2 of 3 neighbours ").size());
}

TEST(RobustRun, SuspectsNobodyWhereAllAreHonestAndFinalGossipHoldsNoNoise) {
    // After one exchange of a complete graph messages are equal but for rounding.
    for (const int steps : {1, 2, 3})
        for (const char* rule : {"clip", "trimmed:1"})
            for (const int seed : {1, 2, 5, 7}) {
                const TemporaryFolder folder;
                TrainConfig config = lying_config(folder, rule, "");
                config.noise_seed = seed;
                config.plan.gossip_steps = steps;
                config.plan.final_gossip = 3;
                config.precision =
                    seed == 7 ? MessagePrecision::float32 : MessagePrecision::float64;
                EXPECT_EQ(test::train(config).suspected, std::vector<SuspectedAgent>{})
                    << rule << ", " << steps << " steps, seed " << seed;
            }
}

TEST(RobustRun, FindsByAnyRuleWhoLeavesItsSharedNoiseOut) {
    for (const char* rule : {"clip", "clip:1e9", "trimmed:1"})
        for (const char* lie : {"lie:no-pair-noise:4", "lie:wrong-sign:4", "lie:inner-product:4"}) {
            const TemporaryFolder folder;
            TrainConfig config = lying_config(folder, rule, lie);
            config.plan.rounds = 200;
            const TrainResult result = test::train(config);
            ASSERT_EQ(result.suspected.size(), 1U) << rule << lie;
            EXPECT_EQ(result.suspected[0].number, 4) << rule << lie;
            EXPECT_EQ(result.suspected[0].lacks_noise, 5) << rule << lie;
        }
}

}  // namespace
}  // namespace sotto
