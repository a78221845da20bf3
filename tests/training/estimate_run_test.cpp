#include "training/estimate_run.hpp"

#include "training/training_fixtures.hpp"
#include "training/training_summary.hpp"

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

TEST(EstimateRun, PredictsRoundsOverANetwork) {
    const TemporaryFolder folder;
    TrainConfig config = logistic_config(folder, 4, "corn", 10);
    config.dry_run = true;
    config.network = parse_network("network", "10ms:1Mbit:2");
    Watcher watcher;
    const TrainResult result = train(config, watcher, [] { return false; });
    ASSERT_TRUE(result.estimate.network);
    const NetworkEstimate& network = *result.estimate.network;
    EXPECT_EQ(network.hosts, 2);
    EXPECT_EQ(network.ranks, 4);
    EXPECT_GT(network.compute, 0);
    EXPECT_DOUBLE_EQ(network.latency, 0.01);
    EXPECT_DOUBLE_EQ(network.transfer, network.busiest_bytes * 8 / 1e6);
    const Json summary = Json::parse(summary_json(result, config.plan)).at("network");
    EXPECT_EQ(summary["busiest_host"], network.busiest_host);
    EXPECT_DOUBLE_EQ(summary["seconds_estimated"].get<double>(), 10 * network.seconds_per_round());
    // Half as many values a byte, beside tags and headers.
    config.precision = MessagePrecision::float32;
    const TrainResult narrow = train(config, watcher, [] { return false; });
    EXPECT_LT(narrow.estimate.network->busiest_bytes, 0.6 * network.busiest_bytes);
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
