#include "commands/sweep/sweep_job.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "commands/cli/run_of_directory.hpp"
#include "commands/sweep/sweep_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

TrainConfig read(const std::string& ini) { return cli::train_config_of({ini, "sweep"}); }

/// Two step sizes, of which one is far too small, and two seeds.
SweepConfig small_sweep(const TemporaryFolder& folder) {
    SweepConfig config;
    config.directory = folder.path("out");
    config.variants = {{"all",
                        {{"agents", {"4"}},
                         {"rounds", {"20"}},
                         {"mechanism", {"none"}},
                         {"clip-norm", {"100"}},
                         {"step-size", {"1e-9", "0.01"}},
                         {"task", {"quadratic"}},
                         {"noise-seed", {"seed"}}}}};
    config.seeds = {"1", "2"};
    config.keep_runs = false;
    return config;
}

class Counting final : public SweepListener {
  public:
    void on_start(std::size_t all_cells, long all_trainings, long all_known) override {
        cells = all_cells;
        trainings = all_trainings;
        known = all_known;
    }
    void on_progress(long now_finished, long now_left) override {
        finished = now_finished;
        left = now_left;
    }
    std::size_t cells = 0;
    long trainings = 0, known = -1, finished = -1, left = -1;
};

SweepResult run(const SweepConfig& config, Counting& counting, bool stop = false) {
    const auto network = make_memory_network(1, 1);
    return run_sweep(config, read, *network, counting, [stop] { return stop; });
}

TEST(SweepJob, ChoosesMeasuresAndKnowsItAgain) {
    const TemporaryFolder folder;
    const SweepConfig config = small_sweep(folder);
    Counting counting;
    const SweepResult result = run(config, counting);
    EXPECT_EQ(counting.cells, 1U);
    EXPECT_EQ(counting.trainings, 4);
    EXPECT_EQ(counting.known, 0);
    EXPECT_EQ(counting.finished, 4);
    EXPECT_EQ(counting.left, 0);
    ASSERT_EQ(result.results.size(), 1U);
    EXPECT_EQ(result.results[0].candidate, 1U);
    EXPECT_TRUE(result.results[0].at_edge);
    EXPECT_EQ(result.done, 4);
    EXPECT_EQ(result.reused, 0);
    // Those that choose among them, although their directories are gone.
    ASSERT_TRUE(result.privacy) << result.privacy_problem;
    EXPECT_EQ(result.privacy->runs, 4);
    EXPECT_TRUE(mean_of(result.results[0], "test_loss"));
    EXPECT_TRUE(fs::exists(config.directory / "results.csv"));
    EXPECT_TRUE(fs::exists(config.directory / "runs.csv"));
    EXPECT_TRUE(fs::is_empty(config.directory / "runs"));
    EXPECT_FALSE(fs::exists(config.directory / "claims"));

    const std::string table = read_file(config.directory / "results.csv");
    const SweepResult again = run(config, counting);
    EXPECT_EQ(again.reused, 4);
    EXPECT_EQ(counting.finished, 0);
    EXPECT_EQ(read_file(config.directory / "results.csv"), table);
}

TEST(SweepJob, ThatIsStoppedSaysSoAndGoesOnLater) {
    const TemporaryFolder folder;
    const SweepConfig config = small_sweep(folder);
    Counting counting;
    const SweepResult stopped = run(config, counting, true);
    EXPECT_TRUE(stopped.interrupted);
    EXPECT_EQ(stopped.done, 0);
    EXPECT_FALSE(stopped.results[0].candidate);
    EXPECT_EQ(run(config, counting).done, 4);
}

TEST(SweepJob, RefusesBeforeTheFirstTraining) {
    const TemporaryFolder folder;
    Counting counting;
    SweepConfig config = small_sweep(folder);
    config.validation_seeds = {"2"};
    test::expect_contains(test::message_of<ConfigError>([&] { (void)run(config, counting); }),
                          "validation-seeds: 2 is among the seeds");
    config = small_sweep(folder);
    config.variants[0].settings[1].values = {"20", "no number"};
    EXPECT_NE(test::message_of<ConfigError>([&] { (void)run(config, counting); }), "");
    EXPECT_FALSE(fs::exists(config.directory));
}

}  // namespace
}  // namespace sotto
