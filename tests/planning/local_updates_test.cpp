#include "planning/local_updates.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

PlanConfig updates_of(const std::string& mechanism, int steps) {
    PlanConfig config;
    config.mechanism = mechanism;
    config.local_steps = steps;
    return config;
}

std::string refusal(const PlanConfig& config) {
    return message_of<ConfigError>([&] { require_possible_updates(config); });
}

TEST(LocalSteps, AreForFederatedAveraging) {
    EXPECT_NO_THROW(require_possible_updates(updates_of("dp-fedavg", 5)));
    EXPECT_NO_THROW(require_possible_updates(updates_of("pairs", 1)));
    for (const char* mechanism : {"pairs", "cdp", "none", "zip-dl"})
        expect_contains(refusal(updates_of(mechanism, 5)),
                        std::string("local-steps: 5 is not possible with mechanism ") + mechanism);
    expect_contains(refusal(updates_of("ldp", 5)), "(allowed: 1; or mechanism dp-fedavg)");
}

TEST(FederatedAveraging, HasNoGossipSteps) {
    PlanConfig config = updates_of("dp-fedavg", 1);
    config.gossip_steps = 3;
    expect_contains(refusal(config), "gossip-steps: 3 is not possible with mechanism dp-fedavg");
    config.mechanism = "muffliato";
    EXPECT_NO_THROW(require_possible_updates(config));
}

TEST(LocalSteps, AreNotForRecordsNorForAClipThatIsLearnt) {
    PlanConfig config = updates_of("dp-fedavg", 2);
    config.adjacency = Adjacency::agent_zero_out;
    EXPECT_NO_THROW(require_possible_updates(config));
    config.adjacency = Adjacency::record;
    expect_contains(refusal(config), "local-steps: 2 is not possible with adjacency record");
    config.adjacency = Adjacency::agent;
    config.learn_clip = true;
    expect_contains(refusal(config), "local-steps: 2 is not possible with --clip-norm auto");
}

TEST(SampledAgents, AreForFederatedAveragingOfAgentsThatMayBeAbsent) {
    PlanConfig config = updates_of("dp-fedavg", 1);
    config.client_probability = 0.25;
    expect_contains(refusal(config),
                    "client-probability: 0.25 is not possible with adjacency agent");
    config.adjacency = Adjacency::agent_zero_out;
    expect_contains(refusal(config), "with participation every (allowed: poisson)");
    config.participation.poisson = true;
    EXPECT_NO_THROW(require_possible_updates(config));
    config.mechanism = "cdp";
    expect_contains(refusal(config), "client-probability: 0.25 is not possible with mechanism cdp");
}

TEST(LocalSteps, AreNotForTasksWhoseGradientsAreTheirData) {
    LocalTask task;
    TrainConfig config;
    config.plan = updates_of("dp-fedavg", 2);
    EXPECT_NO_THROW(require_possible_updates(config, task));
    task.rows_are_rounds = true;
    EXPECT_THROW(require_possible_updates(config, task), ConfigError);
    config.plan.local_steps = 1;
    EXPECT_NO_THROW(require_possible_updates(config, task));
}

TEST(SampledAgents, AreNotHiddenByPaddedRounds) {
    TrainConfig config;
    config.pad_rounds = true;
    EXPECT_NO_THROW(require_possible_updates(config, LocalTask{}));
    config.plan.client_probability = 0.5;
    EXPECT_THROW(require_possible_updates(config, LocalTask{}), ConfigError);
}

}  // namespace
}  // namespace sotto
