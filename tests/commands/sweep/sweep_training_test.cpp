#include "commands/sweep/sweep_training.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "commands/sweep/sweep_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

struct CountedRounds final : TrainingListener {
    void on_rounds() override { ++begun; }
    void on_round(long, long, const Ledger&) override { ++rounds; }
    long begun = 0, rounds = 0;
};

std::optional<SweepOutcome> train(const TemporaryFolder& folder,
                                  const std::function<TrainConfig()>& read,
                                  bool stop = false) {
    TrainingListener listener;
    return train_once(
        read,
        folder.path("run"),
        [&] { fs::remove_all(folder.path("run")); },
        1,
        listener,
        [stop] { return stop; });
}

TEST(SweepTraining, ThatIsDoneHasTheMetricsOfItsSummary) {
    const TemporaryFolder folder;
    CountedRounds listener;
    const auto outcome = train_once([] { return test::quadratic_config(4, "ldp", 6); },
                                    folder.path("run"),
                                    [] {},
                                    1,
                                    listener,
                                    [] { return false; });
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->status, SweepOutcome::Status::done) << outcome->error;
    EXPECT_EQ(listener.begun, 1) << "it says when its rounds begin";
    EXPECT_GE(listener.rounds, 6);
    EXPECT_GT(outcome->seconds, 0);
    const test::Json summary = test::read_json(fs::path(folder.path("run")) / "summary.json");
    for (const std::string& metric : sweep_metrics()) {
        const double value = outcome->metrics.at(metric);
        if (summary.at(metric).is_null())
            EXPECT_TRUE(std::isnan(value)) << metric;
        else
            EXPECT_EQ(value, summary.at(metric).get<double>()) << metric;
    }
}

TEST(SweepTraining, ThatDivergesOrFailsIsAnOutcomeToo) {
    const TemporaryFolder folder;
    const auto diverged = train(folder, [] {
        TrainConfig config = test::quadratic_config(4, "none", 400);
        config.plan.clip_norm = 1e6;
        config.plan.steps.step_size = 1e308;
        return config;
    });
    ASSERT_TRUE(diverged);
    EXPECT_EQ(diverged->status, SweepOutcome::Status::diverged) << diverged->error;
    const auto failed = train(folder, []() -> TrainConfig { throw DataError("no such file"); });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->status, SweepOutcome::Status::failed);
    EXPECT_EQ(failed->error, "no such file");
    EXPECT_EQ(failed->exit_code, static_cast<int>(ExitCode::data));
    EXPECT_TRUE(failed->metrics.empty());
}

TEST(SweepTraining, ThatIsStoppedLeavesNothing) {
    const TemporaryFolder folder;
    EXPECT_FALSE(train(
        folder, [] { return test::quadratic_config(4, "ldp", 6); }, true));
    EXPECT_FALSE(fs::exists(folder.path("run")));
}

}  // namespace
}  // namespace sotto
