#include "training/close_run.hpp"

#include "training/training_fixtures.hpp"
#include "training/training_rounds.hpp"
#include "training/training_summary.hpp"

namespace sotto {
namespace {

using test::Json;

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

}  // namespace
}  // namespace sotto
