#include "training/estimate_run.hpp"

#include <vector>

#include "config/run_fixtures.hpp"
#include "net/memory_network.hpp"
#include "options/option_formats.hpp"
#include "training/train_report.hpp"
#include "training/training_fixtures.hpp"

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

NetworkSpec spec_of(std::optional<int> hosts, std::optional<int> ranks) {
    return {0.01, 1e8, hosts, ranks};
}

TEST(RankLayout, OfOneProcessHasARankAnAgentAndAHostARank) {
    const auto network = make_memory_network(3, 1);
    const RankLayout layout = rank_layout(spec_of({}, {}), *network);
    EXPECT_EQ(layout.blocks.processes(), 3);
    EXPECT_EQ(layout.host_of, (std::vector{0, 1, 2}));
    EXPECT_EQ(layout.hosts.size(), 3U);
    EXPECT_EQ(layout.heaviest().agents, 1);
}

TEST(RankLayout, SpreadsConsecutiveRanksOverHosts) {
    const auto network = make_memory_network(7, 1);
    const RankLayout layout = rank_layout(spec_of(2, 3), *network);
    EXPECT_EQ(layout.blocks.processes(), 3);
    EXPECT_EQ(layout.host_of, (std::vector{0, 1, 1}));
    EXPECT_EQ(layout.heaviest().agents, 5);
    EXPECT_EQ(layout.heaviest().ranks, 2);
}

TEST(RankLayout, RefusesMoreRanksThanAgentsAndMoreHostsThanRanks) {
    const auto network = make_memory_network(3, 1);
    test::expect_contains(
        test::message_of<ConfigError>([&] { (void)rank_layout(spec_of({}, 4), *network); }),
        "--network, ranks: 4 is not allowed (at most one per agent, 3)");
    test::expect_contains(
        test::message_of<ConfigError>([&] { (void)rank_layout(spec_of(3, 2), *network); }),
        "--network, hosts: 3 is not allowed (at most one per rank, 2)");
}

}  // namespace
}  // namespace sotto
