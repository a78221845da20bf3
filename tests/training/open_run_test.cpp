#include "training/open_run.hpp"

#include "options/train_options.hpp"
#include "sotto/plan/plan_json.hpp"
#include "sotto/trust/secret_coins.hpp"
#include "store/sent_mark.hpp"
#include "tasks/task.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::Json;
using test::quadratic_config;

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
    const OpenRun run = open_run(prepare_run(config, *network, make_task));
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

}  // namespace
}  // namespace sotto
