#include "training/open_run.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "core/numbers.hpp"
#include "options/train_options.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "store/sent_mark.hpp"
#include "tasks/task.hpp"
#include "training/train_report.hpp"
#include "training/training.hpp"
#include "training/training_fixtures.hpp"
#include "trust/secret_coins.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;
using test::quadratic_config;
using test::TemporaryFolder;
using test::train;

class OpenRunOf : public ::testing::Test {
  protected:
    OpenRunOf() { config.run_directory = folder.path("run"); }
    OpenRun open() { return open_run(test::prepare(config, *network)); }
    bool has(const std::string& file) const {
        return std::filesystem::exists(std::filesystem::path(folder.path("run")) / file);
    }
    test::TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "decor", 25);
    std::unique_ptr<Network> network = make_memory_network(4, 1);
};

TEST_F(OpenRunOf, AConfigurationCountsAllPlannedRoundsBeforeTheFirst) {
    const OpenRun run = open();
    EXPECT_EQ(run.directory.path(), folder.path("run"));
    EXPECT_EQ(run.progress.rounds, 0);
    EXPECT_EQ(run.progress.totals.loop_seconds, 0);
    EXPECT_FALSE(has("config.ini")) << "it says that messages may have left";
    declare_begun(run);
    EXPECT_EQ(read_file(folder.path("run/config.ini")), as_ini(config));
    const Json ledger = test::read_json(folder.path("run/ledger.json"));
    EXPECT_EQ(ledger["status"], "running");
    EXPECT_EQ(ledger["rounds"]["completed"], 0);
    EXPECT_EQ(ledger["rounds"]["accounted"], 25);
    const Json history = test::read_json(folder.path("run/history.json"));
    EXPECT_EQ(history["starts"], 1);
    EXPECT_EQ(history["completed"], false);
    EXPECT_EQ(test::read_json(folder.path("run/manifest.json"))["plan_hash"],
              to_hex(run.prepared.run.plan.hash()));
    EXPECT_EQ(plan_from_json(read_file(folder.path("run/plan.json")), "plan").hash(),
              run.prepared.run.plan.hash());
    EXPECT_FALSE(has("views"));
}

TEST_F(OpenRunOf, ADirectoryOfAStartThatEndedBeforeItsRunBegan) {
    for (int start = 0; start < 2; ++start) {
        network = make_memory_network(4, 1);
        const OpenRun run = open();
        SentMark(run.directory.path(), run.prepared.history.run, {0, 1, 2, 3}, 0, {}).set(0);
    }
    network = make_memory_network(4, 1);
    const OpenRun run = open();
    EXPECT_FALSE(has("sent/0")) << "of another run";
    // From the first round on, or once config.ini is there, nobody uses it for another.
    SentMark(run.directory.path(), run.prepared.history.run, {0, 1, 2, 3}, 0, {})
        .before_round(0, 9);
    network = make_memory_network(4, 1);
    test::expect_contains(test::message_of<ConfigError>([&] { (void)open(); }),
                          "already holds a run");
}

TEST_F(OpenRunOf, ANoiseSeedHasTheSameSeedsEveryTime) {
    const OpenRun first = open();
    config.run_directory = folder.path("again");
    network = make_memory_network(4, 1);
    const OpenRun again = open();
    config.run_directory = folder.path("fresh");
    config.noise_seed.reset();
    network = make_memory_network(4, 1);
    const OpenRun fresh = open();
    for (std::size_t a = 0; a < 4; ++a) {
        ASSERT_FALSE(first.rings[a].groups().empty());
        EXPECT_EQ(first.rings[a].groups(), again.rings[a].groups());
        const auto seed = [&](const OpenRun& run) {
            const auto bytes = run.rings[a].seed(run.rings[a].groups().front()).bytes();
            return std::vector<std::uint8_t>(bytes.begin(), bytes.end());
        };
        EXPECT_EQ(seed(first), seed(again));
        EXPECT_NE(seed(first), seed(fresh));
    }
}

TEST_F(OpenRunOf, SecureSumsHasOneOfThemAnAgent) {
    EXPECT_TRUE(open().sums.empty());
    config.run_directory = folder.path("sums");
    config.secure_sum = true;
    network = make_memory_network(4, 1);
    const OpenRun run = open();
    ASSERT_EQ(run.sums.size(), 4U);
    for (int u = 0; u < 4; ++u) EXPECT_EQ(run.sums[static_cast<std::size_t>(u)].agent(), u);
}

TEST_F(OpenRunOf, ATaskWithoutANameCannotBeTakenUp) {
    const auto make_task = [&] {
        return build_task(config.task, *network, Membership::everybody(4));
    };
    const OpenRun run = open_run(test::prepare(config, *network, make_task));
    declare_begun(run);
    EXPECT_TRUE(has("config.ini"));
    EXPECT_FALSE(has("history.json"));
}

TEST_F(OpenRunOf, SecretSamplingHasCoinsThatNothingElseSays) {
    config = test::logistic_config(folder, 4, "corn", 25);
    config.plan.adjacency = Adjacency::record_add_remove;
    config.plan.participation = {.cycle = 1, .poisson = true};
    config.plan.batch_size = 3;
    config.run_directory = folder.path("run");
    config.noise_seed = 5;
    const OpenRun first = open();
    config.run_directory = folder.path("again");
    config.task.seed += 1;  // coins are no function of it
    network = make_memory_network(4, 1);
    const OpenRun again = open();
    config.run_directory = folder.path("fresh");
    config.noise_seed.reset();
    network = make_memory_network(4, 1);
    OpenRun fresh = open();
    for (std::size_t a = 0; a < 4; ++a) {
        EXPECT_TRUE(first.rings[a].coins() == again.rings[a].coins());
        EXPECT_FALSE(first.rings[a].coins() == fresh.rings[a].coins());
        EXPECT_FALSE(fresh.rings[a].coins() == fresh.rings[(a + 1) % 4].coins());
    }
    // Batches are those of the ring's coins.
    for (std::size_t a = 0; a < 4; ++a) {
        LocalAgent& agent = fresh.prepared.agents[a];
        const auto place = static_cast<std::size_t>(agent.id);
        const SecretCoins coins(fresh.rings[a].coins().clone(),
                                fresh.prepared.history.phases.back().sampling_probability[place]);
        std::vector<Eigen::Index> chosen;
        for (std::uint64_t round = 0; round < 20; ++round) {
            coins.draw(round, agent.objective->records(), chosen);
            EXPECT_TRUE(std::ranges::equal(agent.batches.rows(round), chosen));
        }
    }
}

TEST_F(OpenRunOf, RandomAllocationPlacesRecordsWithTheKeyOfTheRing) {
    config = test::logistic_config(folder, 4, "corn", 25);
    config.plan.adjacency = Adjacency::record_add_remove;
    config.plan.participation = {.rounds_an_epoch = 5};
    config.run_directory = folder.path("run");
    OpenRun run = open();
    for (std::size_t a = 0; a < 4; ++a) {
        LocalAgent& agent = run.prepared.agents[a];
        const Eigen::Index records = agent.objective->records();
        EXPECT_EQ(agent.batch_size, (records + 4) / 5);
        SecretPlaces places(run.rings[a].coins().clone(), 5);
        std::vector<Eigen::Index> chosen;
        for (std::uint64_t round = 0; round < 20; ++round) {
            places.draw(round, records, chosen);
            EXPECT_TRUE(std::ranges::equal(agent.batches.rows(round), chosen));
        }
    }
}

TEST_F(OpenRunOf, SampledPartsAreThoseOfTheSeedWithCoinsOfTheRing) {
    config = test::logistic_config(folder, 4, "ldp", 25);
    config.plan.adjacency = Adjacency::record_add_remove;
    config.plan.participation = {.cycle = 5, .poisson = true};
    config.plan.batch_size = 3;
    config.run_directory = folder.path("run");
    OpenRun run = open();
    for (std::size_t a = 0; a < 4; ++a) {
        LocalAgent& agent = run.prepared.agents[a];
        const Eigen::Index records = agent.objective->records();
        const SecretCoins coins(run.rings[a].coins().clone(), 15 / static_cast<double>(records));
        EXPECT_EQ(coins.probability(),
                  run.prepared.history.phases.back()
                      .sampling_probability[static_cast<std::size_t>(agent.id)]);
        BatchSampler parts = BatchSampler::cyclic(records, 5, config.task.seed, agent.number);
        std::vector<Eigen::Index> chosen;
        for (std::uint64_t round = 0; round < 20; ++round) {
            const auto part = parts.rows(round);
            coins.draw(round, std::ssize(part), chosen);
            for (Eigen::Index& row : chosen) row = part[static_cast<std::size_t>(row)];
            EXPECT_TRUE(std::ranges::equal(agent.batches.rows(round), chosen));
        }
    }
}

class CloseRun : public ::testing::Test {
  protected:
    CloseRun() { config.run_directory = folder.path("run"); }
    Json written(const std::string& file) const {
        return test::read_json(std::filesystem::path(folder.path("run")) / file);
    }
    test::TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(4, "ldp", 15);
    std::unique_ptr<Network> network = make_memory_network(4, 1);
};

TEST_F(CloseRun, WritesTheLastWord) {
    OpenRun run = open_run(test::prepare(config, *network));
    TrainingListener silent;
    test::train_rounds(run, silent);
    const TrainResult result = close_run(run, Clock::now());
    EXPECT_EQ(result.rounds, 15);
    EXPECT_EQ(result.run_directory, folder.path("run"));
    EXPECT_NEAR(result.epsilon, config.plan.epsilon, 1e-5);
    ASSERT_EQ(result.ranks.size(), 1U);
    EXPECT_EQ(result.bytes_sent, result.ranks[0].bytes_sent);
    EXPECT_GT(result.bytes_sent, 0);
    EXPECT_EQ(written("ledger.json")["status"], "completed");
    EXPECT_EQ(written("history.json")["completed"], true);
    EXPECT_EQ(written("summary.json"), Json::parse(summary_json(result, config.plan)));
}

TEST_F(CloseRun, LeavesARunThatWasInterruptedToBeTakenUp) {
    OpenRun run = open_run(test::prepare(config, *network));
    run.progress.rounds = 6;
    run.progress.interrupted = true;
    const TrainResult result = close_run(run, Clock::now());
    EXPECT_EQ(result.rounds, 6);
    EXPECT_LT(result.epsilon, config.plan.epsilon);
    EXPECT_EQ(written("ledger.json")["status"], "interrupted");
    EXPECT_EQ(written("ledger.json")["rounds"]["accounted"], 6);
    EXPECT_EQ(written("history.json")["completed"], false);
    EXPECT_EQ(written("summary.json")["interrupted"], true);
}

TEST(FailedRun, ThatFailsKeepsAllPlannedRoundsInTheLedger) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 500);
    config.run_directory = folder.path("run");
    config.plan.steps.step_size = 10;
    config.l2 = 100;
    expect_contains(message_of<Error>([&] { (void)train(config); }), "diverged");
    const Json ledger = test::read_json(folder.path("run/ledger.json"));
    EXPECT_EQ(ledger["status"], "failed");
    EXPECT_LT(ledger["rounds"]["completed"], 500);
    EXPECT_EQ(ledger["rounds"]["accounted"], 500);
    EXPECT_NEAR(ledger["headline"]["epsilon"].get<double>(), 10, 1e-5);
    EXPECT_FALSE(std::filesystem::exists(folder.path("run/summary.json")));
}

TEST(FailedRun, SaysWhyAndThrowsAgain) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 20);
    config.run_directory = folder.path("run");
    const auto network = make_memory_network(4, 1);
    OpenRun open = open_run(test::prepare(config, *network));
    open.progress.rounds = 7;
    const auto fail = [&](const auto& failure) {
        try {
            throw failure;
        } catch (const std::exception& caught) {
            end_failed_run(open, caught);
        }
    };
    EXPECT_EQ(message_of<CryptoError>([&] { fail(CryptoError("a tag is wrong")); }),
              "a tag is wrong");
    EXPECT_EQ(read_file(folder.path("run/failure.txt")), "rank 0, round 7: a tag is wrong\n");
    const Json ledger = test::read_json(folder.path("run/ledger.json"));
    EXPECT_EQ(ledger["status"], "failed");
    EXPECT_EQ(ledger["rounds"]["completed"], 7);
    EXPECT_EQ(ledger["rounds"]["accounted"], 20);
    // The first who fails has the word.
    EXPECT_THROW(fail(std::runtime_error("later")), std::runtime_error);
    expect_contains(read_file(folder.path("run/failure.txt")), "a tag is wrong");
}

TEST(OwnReport, SaysWhatWasCounted) {
    const Json json = Json::parse(to_json(AgentReport{2, 30, 4}));
    EXPECT_EQ(json["gradients_set_to_zero"], 2);
    EXPECT_EQ(json["records_set_to_zero"], 30);
    EXPECT_EQ(json["messages_limited"], 4);
}

TEST(OwnReport, IsWrittenForItsOwnerWhateverItSaysAndIsInNoOtherFile) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(3, "ldp", 5);
    config.run_directory = folder.path("run");
    const TrainResult result = train(config);
    EXPECT_EQ(result.own_reports, "");
    for (int agent = 0; agent < 3; ++agent) {
        const std::string file = folder.path(fmt::format("run/agents/{}/report.json", agent));
        EXPECT_EQ(test::read_json(file)["messages_limited"], 0);
        EXPECT_EQ(std::filesystem::status(file).permissions() & std::filesystem::perms::all,
                  std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }
    EXPECT_EQ(read_file(folder.path("run/summary.json")).find("limited"), std::string::npos);
}

}  // namespace
}  // namespace sotto
