#include "run/training/estimate_run.hpp"

#include "run/training_fixtures.hpp"
#include "run/training_summary.hpp"

namespace sotto {
namespace {

using test::Json;
using test::logistic_config;
using test::quadratic_config;
using test::TemporaryFolder;
using test::train;
using test::Watcher;

TEST(EstimateRun, EstimatesWithoutLeavingAnything) {
    const TemporaryFolder folder;
    TrainConfig config = logistic_config(folder, 4, "corn", 1000000);
    config.run_directory = folder.path("run");
    config.dry_run = true;
    Watcher watcher;
    const TrainResult result = train(config, watcher, [] { return false; });
    EXPECT_TRUE(result.dry_run);
    EXPECT_TRUE(watcher.estimated);
    EXPECT_EQ(watcher.completed, 0);
    EXPECT_EQ(result.rounds, 0);
    EXPECT_GT(result.estimate.seconds_per_round, 0);
    EXPECT_GT(result.estimate.memory_mib, 4.0 * 4 * 124 * 8 / (1 << 20));
    EXPECT_NEAR(result.epsilon, 10, 1e-5);
    EXPECT_FALSE(std::filesystem::exists(folder.path("run")));
    const Json summary = Json::parse(summary_json(result, config.plan));
    EXPECT_EQ(summary["dry_run"], true);
    EXPECT_DOUBLE_EQ(summary["seconds_estimated"].get<double>(),
                     1e6 * result.estimate.seconds_per_round);
}

TEST(EstimateRun, OfFewCorrelatedRoundsDrawsNoMoreThanThePlanCovers) {
    TrainConfig config = quadratic_config(4, "anti-pgd", 3);
    config.dry_run = true;
    Watcher watcher;
    const TrainResult result = train(config, watcher, [] { return false; });
    EXPECT_GT(result.estimate.seconds_per_round, 0);
    EXPECT_FALSE(result.estimate.past_noise_again);
}

}  // namespace
}  // namespace sotto
