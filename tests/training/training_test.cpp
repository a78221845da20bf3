#include "training/training.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "agent/recording/recorded_view.hpp"
#include "agent/recording/recorded_wire.hpp"
#include "core/numbers.hpp"
#include "learn/quadratic.hpp"
#include "options/train_options.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "training/train_report.hpp"
#include "training/training_fixtures.hpp"

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

TEST(TrainingLoop, StopsWhenAskedAndCountsTheRoundsThatHappened) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "corn", 200000);
    config.run_directory = folder.path("run");
    Watcher watcher;
    const TrainResult result = train(config, watcher, [&] { return watcher.completed >= 50; });
    EXPECT_TRUE(result.interrupted);
    EXPECT_GE(result.rounds, 50);
    EXPECT_LT(result.rounds, 2000);
    EXPECT_EQ(result.rounds, watcher.completed);
    const Json ledger = test::read_json(folder.path("run/ledger.json"));
    EXPECT_EQ(ledger["status"], "interrupted");
    EXPECT_EQ(ledger["rounds"]["planned"], 200000);
    EXPECT_EQ(ledger["rounds"]["completed"], result.rounds);
    EXPECT_EQ(ledger["rounds"]["accounted"], result.rounds);
    // mu grows with the square root of the rounds.
    const double mu = gdp_mu(10, 1e-5) * std::sqrt(static_cast<double>(result.rounds) / 200000.0);
    EXPECT_NEAR(result.mu, mu, 1e-6 * mu);
    EXPECT_NEAR(ledger["headline"]["mu"].get<double>(), mu, 1e-6 * mu);
    EXPECT_NEAR(result.epsilon, gdp_epsilon(mu, 1e-5), 1e-5 * result.epsilon);
    EXPECT_LT(result.epsilon, 10);
    EXPECT_EQ(test::read_json(folder.path("run/summary.json"))["interrupted"], true);
    EXPECT_EQ(read_metrics(folder.path("run")).back()[0], std::to_string(result.rounds));
    for (int u = 0; u < 4; ++u)
        EXPECT_EQ(read_npy(folder.path("run/agents/" + std::to_string(u) + "/model.npy")).rows(),
                  2);
}

TEST(TrainingLoop, EvaluatesFiftyTimesARunUnlessToldOtherwise) {
    const TemporaryFolder folder;
    for (const auto& [every, rounds, times] :
         {std::tuple(0L, 200L, 51U), {0L, 10L, 11U}, {7L, 20L, 4U}, {100L, 20L, 2U}}) {
        TrainConfig config = quadratic_config(3, "ldp", rounds);
        config.run_directory = folder.path(std::to_string(every) + "of" + std::to_string(rounds));
        config.evaluate_every = every;
        Watcher watcher;
        (void)train(config, watcher, [] { return false; });
        EXPECT_EQ(watcher.evaluated.size(), times) << every << " of " << rounds;
        EXPECT_EQ(watcher.evaluated.front(), 0);
        EXPECT_EQ(watcher.evaluated.back(), rounds);
        EXPECT_TRUE(std::ranges::is_sorted(watcher.epsilons));
    }
}

TEST(TrainingLoop, EvaluatesOnSomeRecordsAndOnTheWholeTestSetAfterTheLastRound) {
    const TemporaryFolder folder;
    const auto records_of = [&](const std::string& name, const auto& asked) {
        TrainConfig config = quadratic_config(3, "ldp", 4);
        config.run_directory = folder.path(name);
        config.evaluate_every = 2;
        config.optimality_gap = false;
        config.evaluated_records = asked;
        Watcher watcher;
        (void)train(config, watcher, [] { return false; });
        std::vector<std::string> result;
        const auto rows = read_metrics(config.run_directory.value());
        for (std::size_t i = 1; i < rows.size(); ++i)
            result.push_back(rows[i].at(rows[i].size() - 2) + " " + rows[i].back());
        return result;
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(records_of("auto", std::optional<EvaluatedRecords>()),
              (Texts{"1000 1000", "1000 1000", "all 1000"}));
    EXPECT_EQ(records_of("all", EvaluatedRecords{}), (Texts{"all all", "all all", "all all"}));
    EXPECT_EQ(records_of("some", EvaluatedRecords{7, 7}), (Texts{"7 7", "7 7", "7 7"}));
    EXPECT_EQ(test::read_json(folder.path("some/summary.json"))["evaluated_records"],
              (Json{{"test", 7}, {"train", 7}}));
}

TEST(UsualRecords, AreFewerForManyAgents) {
    EXPECT_EQ(usual_records(false, 20).test, 1000);
    EXPECT_EQ(usual_records(false, 4000).test, 1000);
    EXPECT_EQ(usual_records(false, 100'000).test, 40);
    EXPECT_EQ(usual_records(false, 100'000).train, 1000);
    EXPECT_EQ(usual_records(true, 10'000).test, std::nullopt);
    EXPECT_EQ(usual_records(true, 100'000).test, 2000);
    EXPECT_EQ(usual_records(true, 2'000'000'000).test, 1);
}

TEST(TrainingLoop, KeepsTheProgressOfTheRun) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(3, "ldp", 12);
    config.run_directory = folder.path("run");
    const auto network = make_memory_network(3, 1);
    OpenRun open = open_run(test::prepare(config, *network));
    const sotto::Run& run = open.prepared.run;
    Trainer trainer(*network,
                    run.topography.schedule(),
                    run.plan,
                    NoiseSource(run.plan, open.rings, 1),
                    std::move(open.prepared.agents),
                    open.prepared.initial,
                    {});
    Watcher watcher;
    const std::function<bool()> never = [] { return false; };
    TrainingLoop loop(open, trainer, watcher, never);
    loop.begin({});
    EXPECT_EQ(watcher.evaluated, std::vector<long>{0});
    for (long round = 0; round < 12; ++round) {
        EXPECT_TRUE(loop.more());
        loop.run_round();
        EXPECT_EQ(open.progress.rounds, round + 1);
    }
    EXPECT_FALSE(loop.more());
    loop.end();
    EXPECT_EQ(open.progress.rounds, 12);
    EXPECT_FALSE(open.progress.interrupted);
    EXPECT_GT(open.progress.totals.loop_seconds, 0);
    EXPECT_GT(open.progress.totals.evaluate_seconds, 0);
    EXPECT_TRUE(std::isfinite(open.progress.evaluation.train_loss_mean_model));
    EXPECT_EQ(watcher.completed, 12);
}

/// Quadratic functions without noise, every round by hand: X <- W (X - eta clip(G) - eta l2 X).
Eigen::MatrixXd by_hand(const TrainConfig& config, const MixingMatrix& mixing, long rounds) {
    const int agents = config.graph.topology.agents;
    const Eigen::MatrixXd w = Eigen::MatrixXd(mixing.sparse());
    const double eta = config.plan.steps.step_size;
    Eigen::MatrixXd models = Eigen::MatrixXd::Zero(2, agents);
    for (long t = 0; t < rounds; ++t) {
        Eigen::MatrixXd stepped = models;
        for (int u = 0; u < agents; ++u) {
            Eigen::Vector2d gradient;
            make_quadratic_objective(u, agents)->mean_gradient(models.col(u), {}, gradient);
            gradient *= std::min(1.0, config.plan.clip_norm / gradient.norm());
            stepped.col(u) -= eta * (gradient + config.l2 * models.col(u));
        }
        models = stepped * w.transpose();
    }
    return models;
}

TEST(TrainingRounds, AreThoseOfTheEquation) {
    const test::TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(5, "none", 25);
    config.plan.steps.step_size = 0.1;
    config.l2 = 0.5;
    config.run_directory = folder.path("run");
    const auto network = make_memory_network(5, 1);
    OpenRun run = open_run(test::prepare(config, *network));
    test::Watcher watcher;
    test::train_rounds(run, watcher);
    EXPECT_EQ(run.progress.rounds, 25);
    EXPECT_EQ(watcher.completed, 25);
    EXPECT_GT(run.progress.seconds.total(), 0);
    const Eigen::MatrixXd wanted = by_hand(config, run.prepared.run.topography.mixing, 25);
    EXPECT_LE((test::models_of(config) - wanted).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_GT(wanted.norm(), 0.05);
    // It is not over before it is closed.
    EXPECT_EQ(test::read_json(folder.path("run/ledger.json"))["status"], "running");
    EXPECT_FALSE(std::filesystem::exists(folder.path("run/summary.json")));
}

TEST(TrainingRounds, EndARunThatFailsInOne) {
    const test::TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(5, "none", 25);
    config.run_directory = folder.path("run");
    const auto network = make_memory_network(5, 1);
    OpenRun run = open_run(test::prepare(config, *network));
    struct Failing final : TrainingListener {
        void on_round(long completed, long, const Ledger&) override {
            if (completed == 3) throw DataError("the disk is full");
        }
    } failing;
    EXPECT_THROW(test::train_rounds(run, failing), DataError);
    EXPECT_EQ(read_file(folder.path("run/failure.txt")), "rank 0, round 3: the disk is full\n");
}

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
            config.plan.open.temporal = false;
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
