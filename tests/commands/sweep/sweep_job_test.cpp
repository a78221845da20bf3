#include "commands/sweep/sweep_job.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "commands/sweep/sweep_fixtures.hpp"
#include "options/run_of_directory.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

TrainConfig read(const std::string& ini) { return train_config_of({ini, "sweep"}); }

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
    config.choose_further = 0;
    return config;
}

class Counting final : public SweepListener {
  public:
    void on_start(std::size_t all_cells,
                  long all_trainings,
                  long all_known,
                  bool may_grow) override {
        cells = all_cells;
        trainings = all_trainings;
        known = all_known;
        at_least = may_grow;
    }
    void on_progress(long now_finished, long now_left, bool may_grow) override {
        finished = now_finished;
        left = now_left;
        still_at_least = may_grow;
    }
    std::size_t cells = 0;
    long trainings = 0, known = -1, finished = -1, left = -1;
    bool at_least = false, still_at_least = true;
};

SweepResult run(
    const SweepConfig& config, Counting& counting, const std::function<bool()>& stop = [] {
        return false;
    }) {
    const auto network = make_memory_network(1, 1);
    return run_sweep(config, read, *network, counting, stop);
}

/// Trainings whose end a sweep knows.
long known_in(const SweepConfig& config) {
    std::error_code missing;
    long count = 0;
    for (const auto& entry : fs::directory_iterator(config.directory / "trainings", missing))
        count += entry.path().extension() == ".json" ? 1 : 0;
    return count;
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

TEST(SweepJob, GoesOnBeyondTheGivenValuesAndCountsThatToo) {
    const TemporaryFolder folder;
    SweepConfig config = small_sweep(folder);
    config.variants[0].settings[4].values = {"0.001", "0.002"};
    config.choose_further = 6;
    Counting counting;
    const SweepResult result = run(config, counting);
    EXPECT_EQ(counting.trainings, 4);
    EXPECT_TRUE(counting.at_least);
    EXPECT_FALSE(counting.still_at_least);
    EXPECT_GT(result.trainings, 4);
    EXPECT_EQ(result.done + result.diverged, result.trainings);
    EXPECT_EQ(counting.finished, result.trainings);
    EXPECT_EQ(counting.left, 0);
    EXPECT_GT(result.results[0].candidate, 1U);
    EXPECT_FALSE(result.results[0].at_edge);
    ASSERT_TRUE(result.privacy) << result.privacy_problem;
    EXPECT_EQ(result.privacy->runs, result.trainings);

    const SweepResult again = run(config, counting);
    EXPECT_EQ(again.reused, result.trainings);
    EXPECT_EQ(counting.known, result.trainings) << "further ones are found again, too";
    EXPECT_FALSE(counting.at_least);
    EXPECT_EQ(counting.finished, 0);
}

TEST(SweepJob, FindsFurtherValuesAgainAfterItWasStopped) {
    const TemporaryFolder folder, other;
    const auto growing = [](const TemporaryFolder& where) {
        SweepConfig config = small_sweep(where);
        config.variants[0].settings[4].values = {"0.016", "0.032"};
        config.choose_further = 6;
        return config;
    };
    const SweepConfig config = growing(folder), whole = growing(other);
    Counting counting;
    long finished = 0, before = 0;
    // In the middle of the values given, of those beyond, and of what measures.
    for (const long stop : {1, 3, 5}) {
        const SweepResult stopped = run(config, counting, [&] { return known_in(config) >= stop; });
        EXPECT_TRUE(stopped.interrupted);
        EXPECT_EQ(stopped.reused, before);
        EXPECT_EQ(known_in(config), stop);
        finished += counting.finished;
        before = stop;
    }
    const SweepResult rest = run(config, counting), at_once = run(whole, counting);
    EXPECT_FALSE(rest.interrupted);
    EXPECT_EQ(at_once.trainings, 4 + 2) << "0.064 and 0.128 beyond the two given, two seeds";
    EXPECT_EQ(rest.reused, 5);
    EXPECT_EQ(finished, 5) << "nothing was trained twice";
    EXPECT_EQ(known_in(config), at_once.trainings);
    EXPECT_EQ(read_file(config.directory / "results.csv"),
              read_file(whole.directory / "results.csv"));
}

TEST(SweepJob, TriesNothingBeyondWhatATrainingRefuses) {
    const TemporaryFolder folder;
    SweepConfig config = small_sweep(folder);
    config.choose = {"edge-probability"};
    config.choose_by = "consensus_distance";  // least where everybody hears everybody
    config.choose_further = 6;
    config.variants[0].settings[4].values = {"0.01"};
    config.variants[0].settings.push_back({"edge-probability", {"0.3", "0.7"}});
    Counting counting;
    const SweepResult result = run(config, counting);
    EXPECT_EQ(result.failed, 1) << "1.633";
    EXPECT_FALSE(result.first_failure);
    EXPECT_EQ(result.results[0].candidate, 1U);
    EXPECT_TRUE(result.results[0].at_edge);
}

TEST(SweepJob, ThatIsStoppedSaysSoAndGoesOnLater) {
    const TemporaryFolder folder;
    const SweepConfig config = small_sweep(folder);
    Counting counting;
    const SweepResult stopped = run(config, counting, [] { return true; });
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
