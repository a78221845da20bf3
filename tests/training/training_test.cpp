#include "training/training.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "options/train_options.hpp"
#include "sotto/agent/recording/recorded_view.hpp"
#include "sotto/agent/recording/recorded_wire.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/plan/plan_json.hpp"
#include "training/training_fixtures.hpp"
#include "training/training_summary.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::logistic_config;
using test::message_of;
using test::quadratic_config;
using test::read_metrics;
using test::TemporaryFolder;
using test::train;
using test::Watcher;

TEST(RunTraining, LeavesEveryFileOfARun) {
    const TemporaryFolder folder;
    for (const auto& mechanism : mechanisms().records()) {
        constexpr int agents = 5;
        TrainConfig config = logistic_config(folder, agents, mechanism.name, 40);
        config.run_directory = folder.path(mechanism.name);
        config.evaluate_every = 15;
        if (mechanism.correlates_rounds) {
            config.plan.adjacency = Adjacency::record;
            config.plan.participation = {4};
            config.plan.choose_temporal = false;
        }
        if (mechanism.name == "muffliato") config.plan.gossip_steps = 3;
        Watcher watcher;
        const TrainResult result = train(config, watcher, [] { return false; });
        const std::filesystem::path directory = *config.run_directory;

        EXPECT_EQ(result.rounds, 40);
        EXPECT_FALSE(result.interrupted);
        EXPECT_EQ(result.mechanism, mechanism.name);
        EXPECT_EQ(result.run_directory, directory);
        EXPECT_EQ(watcher.starts, 1);
        EXPECT_FALSE(watcher.estimated);
        EXPECT_EQ(watcher.mechanism, mechanism.name);
        EXPECT_EQ(watcher.completed, 40);
        EXPECT_EQ(watcher.evaluated, (std::vector<long>{0, 15, 30, 40}));
        EXPECT_EQ(watcher.epsilons.front(), 0);

        EXPECT_EQ(read_file(directory / "config.ini"), as_ini(config)) << mechanism.name;
        const NoisePlan plan = plan_from_json(read_file(directory / "plan.json"), "plan.json");
        EXPECT_EQ(plan.mechanism, mechanism.name);

        const Json ledger = test::read_json(directory / "ledger.json");
        EXPECT_EQ(ledger["status"], "completed");
        EXPECT_EQ(ledger["rounds"]["completed"], 40);
        EXPECT_EQ(ledger["rounds"]["accounted"], 40);
        EXPECT_EQ(ledger["plan_hash"], to_hex(plan.hash()));
        EXPECT_EQ(ledger["noise"]["insecure"], true);
        EXPECT_EQ(ledger["agents"].size(), static_cast<std::size_t>(agents));

        const Json manifest = test::read_json(directory / "manifest.json");
        EXPECT_EQ(manifest["agents"], agents);
        EXPECT_EQ(manifest["plan_hash"], to_hex(plan.hash()));
        std::size_t seeds = 0;
        for (const auto& group : plan.groups) seeds += group.members.size();
        EXPECT_EQ(manifest["seed_commitments"].size(), seeds);

        const Json summary = test::read_json(directory / "summary.json");
        EXPECT_EQ(summary, Json::parse(summary_json(result, config.plan)));
        EXPECT_EQ(summary["rounds"], 40);
        EXPECT_EQ(summary["interrupted"], false);

        const auto metrics = read_metrics(directory);
        ASSERT_EQ(metrics.size(), 5u);
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(metrics[i + 1][0], std::to_string(watcher.evaluated[i]));
            EXPECT_EQ(metrics[i + 1].size(), metrics[0].size());
        }
        for (int u = 0; u < agents; ++u) {
            const Eigen::MatrixXd model =
                read_npy(directory / "agents" / std::to_string(u) / "model.npy");
            EXPECT_EQ(model.rows(), 124);
            EXPECT_EQ(model.cols(), 1);
            EXPECT_TRUE(model.allFinite());
            EXPECT_GT(model.norm(), 0);
        }
        std::set<std::string> files;
        for (const auto& entry : std::filesystem::directory_iterator(directory))
            files.insert(entry.path().filename());
        EXPECT_EQ(files,
                  (std::set<std::string>{"agents",
                                         "checkpoints",
                                         "config.ini",
                                         "data.json",
                                         "history.json",
                                         "ledger.json",
                                         "lock",
                                         "manifest.json",
                                         "metrics.csv",
                                         "plan.json",
                                         "sent",
                                         "summary.json"}));
        if (mechanism.needs_budget) {
            EXPECT_NEAR(result.epsilon, 10, 1e-5);
            EXPECT_NEAR(ledger["headline"]["epsilon"].get<double>(), 10, 1e-5);
            EXPECT_EQ(summary["infinite"], false);
        }
    }
}

TEST(RunTraining, WithoutNoiseSaysThatEpsilonIsInfinite) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "none", 30);
    config.run_directory = folder.path("run");
    const TrainResult result = train(config);
    EXPECT_TRUE(std::isinf(result.epsilon));
    EXPECT_TRUE(std::isinf(result.mu));
    const Json summary = test::read_json(folder.path("run/summary.json"));
    EXPECT_TRUE(summary["epsilon"].is_null());
    EXPECT_TRUE(summary["mu"].is_null());
    EXPECT_EQ(summary["infinite"], true);
    const Json ledger = test::read_json(folder.path("run/ledger.json"));
    EXPECT_TRUE(ledger["headline"]["epsilon"].is_null());
    EXPECT_EQ(ledger["headline"]["infinite"], true);
    expect_contains(ledger["statements"].dump(), "Epsilon is infinite");
    const auto metrics = read_metrics(folder.path("run"));
    EXPECT_EQ(metrics.back()[1], "");
}

TEST(RunTraining, NeverOverwritesAnotherRun) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 10);
    config.run_directory = folder.path("run");
    (void)train(config);
    const std::string ledger = read_file(folder.path("run/ledger.json"));
    config.plan.rounds = 11;
    expect_contains(message_of<ConfigError>([&] { (void)train(config); }), "already holds a run");
    EXPECT_EQ(read_file(folder.path("run/ledger.json")), ledger);
}

TEST(RunTraining, GivesTheSameModelsForTheSameSeedsAndAnyNumberOfThreads) {
    const TemporaryFolder folder;
    for (const std::string mechanism : {"ldp", "cdp", "decor", "corn"}) {
        TrainConfig config = logistic_config(folder, 4, mechanism, 20);
        const auto models = [&](const std::string& name) {
            config.run_directory = folder.path(name);
            (void)train(config);
            std::string all;
            for (int u = 0; u < 4; ++u)
                all += read_file(folder.path(name + "/agents/" + std::to_string(u) + "/model.npy"));
            return all;
        };
        const std::string first = models(mechanism + "1");
        config.threads = mechanism == "corn" ? 2 : 1;
        EXPECT_EQ(first == models(mechanism + "2"), true) << mechanism;
        config.threads = 1;
        config.noise_seed = 18;
        EXPECT_EQ(first == models(mechanism + "3"), false) << mechanism;
        config.noise_seed = std::nullopt;
        const std::string fresh = models(mechanism + "4");
        EXPECT_EQ(fresh == models(mechanism + "5"), false) << mechanism;
        EXPECT_EQ(test::read_json(folder.path(mechanism + "5/ledger.json"))["noise"]["insecure"],
                  false);
    }
}

TEST(RunTraining, SaysWhatSecureSumsHide) {
    const auto report_of = [&](Topology topology, int partners) {
        TrainConfig config = quadratic_config(6, "ldp", 3);
        config.graph.topology.topology = topology;
        config.secure_sum = true;
        config.mask_partners = partners;
        config.dry_run = true;
        Watcher watcher;
        (void)train(config, watcher, [] { return false; });
        return watcher.report;
    };
    const std::string complete = report_of(Topology::complete, 16);
    expect_contains(complete, "1 colluder: nobody's message is learnt; at least 89% of each");
    expect_contains(complete, "4 colluders: nobody's message is learnt; at least 70% of each");
    expect_contains(complete, "5 colluders: agents 0, 2, 3, 4, 5 have the message of agent 1.");
    expect_contains(report_of(Topology::complete, 1),
                    "3 colluders: agents 0, 2, 4 have the messages of agents 1, 3, 5");
    expect_contains(report_of(Topology::star, 16),
                    "1 colluder: agent 1 has the message of agent 0; agent 0 (1 of 6) can lose");
}

TEST(RunTraining, WithSumsThatHideNothingIsRefused) {
    TrainConfig config = quadratic_config(8, "ldp", 3);
    config.graph.topology.topology = Topology::exponential;
    config.graph.mixing_schedule = "one-peer";
    config.secure_sum = true;
    config.dry_run = true;
    expect_contains(message_of<ConfigError>([&] { (void)train(config); }), "hides nothing");
    config.graph.mixing_schedule = "fixed";
    EXPECT_NO_THROW((void)train(config));
    // Noise against two colluders: sums are to hide something from two.
    config.graph.topology.topology = Topology::ring;
    config.plan.mechanism = "pairs";
    EXPECT_NO_THROW((void)train(config));
    config.plan.coalition_size = 2;
    expect_contains(message_of<ConfigError>([&] { (void)train(config); }), "2 colluders");
}

}  // namespace
}  // namespace sotto
