#include "training/person_protection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "privacy/ledger_json.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "store/run_directory.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;
using test::read_json;
using test::TemporaryFolder;

TrainConfig persons_config(int unit_agents, const std::string& mechanism = "pairs") {
    TrainConfig config = test::quadratic_config(6, mechanism, 10);
    config.plan.epsilon = 2;
    config.plan.unit_agents = unit_agents;
    return config;
}

PreparedRun prepared_for_persons(const TrainConfig& config) {
    const auto network = make_memory_network(6, 1);
    return test::prepare(config, *network);
}

TEST(PersonProtection, IsWhatTheHeadlineIsAbout) {
    for (const int agents : {2, 3}) {
        const PreparedRun prepared = prepared_for_persons(persons_config(agents));
        const Ledger& ledger = prepared.ledger;
        EXPECT_NEAR(ledger.epsilon_after(10), 2, 1e-5) << agents;
        EXPECT_LT(largest(ledger.after(10)).epsilon, 1.5) << agents;
        EXPECT_LT(ledger.epsilon_after(5), ledger.epsilon_after(10));
        const Json json = Json::parse(to_json(ledger, Ledger::Status::completed, 10));
        EXPECT_EQ(json["unit_agents"], agents);
        EXPECT_EQ(json["headline"]["unit_agents"], agents);
        EXPECT_EQ(json["headline"]["agents"].size(), static_cast<std::size_t>(agents));
        EXPECT_NEAR(json["headline"]["epsilon"].get<double>(), 2, 1e-5);
        expect_contains(prepared.words.plan, fmt::format("up to {} agents", agents));
        expect_contains(prepared.report, fmt::format("at up to {} agents", agents));
    }
}

TEST(PersonProtection, OfOneAgentChangesNothing) {
    const PreparedRun prepared = prepared_for_persons(persons_config(1));
    const Json json = Json::parse(to_json(prepared.ledger, Ledger::Status::completed, 10));
    EXPECT_FALSE(json.contains("unit_agents"));
    EXPECT_FALSE(json["headline"].contains("unit_agents"));
    EXPECT_NEAR(
        prepared.ledger.epsilon_after(10), largest(prepared.ledger.after(10)).epsilon, 1e-12);
}

TEST(PersonProtection, IsCheckedByEveryAgent) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "plan.json").string();
    {
        const PreparedRun alone = prepared_for_persons(persons_config(1));
        write_file_atomically(file, to_json(alone.run.plan));
    }
    TrainConfig config = persons_config(1);
    config.plan.plan_file = file;
    EXPECT_NO_THROW((void)prepared_for_persons(config));
    config.plan.unit_agents = 2;  // for which the file has too little noise
    expect_contains(message_of<PrivacyError>([&] { (void)prepared_for_persons(config); }),
                    "solve a plan for --unit-agents 2");
}

TEST(PersonProtection, IsRefusedWhereBudgetsWouldBeCountedForSingleAgents) {
    TrainConfig leaving = persons_config(2);
    leaving.leave_file = "leave";
    expect_contains(message_of<ConfigError>([&] { (void)prepared_for_persons(leaving); }),
                    "--leave-file");
    TrainConfig joining = persons_config(2);
    joining.spares = {5};
    expect_contains(message_of<ConfigError>([&] { (void)prepared_for_persons(joining); }),
                    "--spares");
    AgreedPhase phase;
    phase.resumption.emplace();
    expect_contains(
        message_of<ConfigError>([&] { require_possible_persons(persons_config(2), phase); }),
        "goes on with a new plan");
    EXPECT_NO_THROW(require_possible_persons(persons_config(1), phase));
    expect_contains(message_of<ConfigError>([&] { (void)prepared_for_persons(persons_config(7)); }),
                    "unit-agents: 7 is not possible with 6 agents");
}

}  // namespace
}  // namespace sotto
