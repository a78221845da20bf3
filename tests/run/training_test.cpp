#include "run/training.hpp"

#include <cmath>
#include <set>

#include "run/run_fixtures.hpp"
#include "run/task.hpp"
#include "sotto/agent/recorded_view.hpp"
#include "sotto/noise/mechanism.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::logistic_config;
using test::message_of;
using test::quadratic_config;
using test::TemporaryFolder;

struct Watcher final : TrainingObserver {
    void on_start(const PlannedNoise& noise,
                  const BuiltTopography&,
                  const std::string& task_description,
                  const std::string& plan_report,
                  const RunEstimate* given) override {
        starts += 1;
        mechanism = noise.design.plan.mechanism;
        task = task_description;
        report = plan_report;
        estimated = given != nullptr;
    }
    void on_round(long now, long of) override {
        EXPECT_EQ(now, completed + 1);
        completed = now;
        rounds = of;
    }
    void on_evaluation(long round, double epsilon, const Evaluation&) override {
        EXPECT_EQ(round, completed);
        evaluated.push_back(round);
        epsilons.push_back(epsilon);
    }
    int starts = 0;
    std::string mechanism, task, report;
    bool estimated = false;
    long completed = 0, rounds = 0;
    std::vector<long> evaluated;
    std::vector<double> epsilons;
};

TrainResult train(const TrainConfig& config, Watcher& watcher, const std::function<bool()>& stop) {
    const auto network = make_memory_network(config.graph.topology.agents, config.threads);
    return run_training(config, *network, watcher, stop);
}
TrainResult train(const TrainConfig& config) {
    Watcher watcher;
    return train(config, watcher, [] { return false; });
}

std::vector<std::vector<std::string>> read_metrics(const std::filesystem::path& directory) {
    std::ifstream file(directory / "metrics.csv");
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(file, line);) {
        auto& row = rows.emplace_back();
        for (std::size_t begin = 0; begin <= line.size();) {
            const std::size_t end = std::min(line.find(',', begin), line.size());
            row.push_back(line.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    return rows;
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

        EXPECT_EQ(read_file(directory / "config.ini"), config.resolved_ini);
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
        EXPECT_EQ(summary, Json::parse(summary_json(result, config)));
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
                                         "config.ini",
                                         "history.json",
                                         "ledger.json",
                                         "lock",
                                         "manifest.json",
                                         "metrics.csv",
                                         "plan.json",
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

TEST(RunTraining, RefusesAPlanFileWithoutNoiseForABudget) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "none", 30);
    config.run_directory = folder.path("first");
    (void)train(config);
    config.plan.mechanism = "corn";
    config.plan.plan_file = folder.path("first/plan.json");
    config.run_directory = folder.path("second");
    expect_contains(message_of<PrivacyError>([&] { (void)train(config); }), "no noise");
    EXPECT_FALSE(std::filesystem::exists(folder.path("second")));
}

TEST(RunTraining, RefusesAPlanFileForAnotherBudget) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "corn", 30);
    config.run_directory = folder.path("first");
    const TrainResult first = train(config);
    config.plan.plan_file = folder.path("first/plan.json");
    config.run_directory = folder.path("again");
    EXPECT_DOUBLE_EQ(train(config).epsilon, first.epsilon);
    // The same messages and models: the plan is all that counts.
    for (int u = 0; u < 4; ++u) {
        const std::string model = "/agents/" + std::to_string(u) + "/model.npy";
        EXPECT_EQ(read_file(folder.path("first") + model), read_file(folder.path("again") + model));
    }
    config.run_directory = folder.path("second");
    config.plan.epsilon = 9;
    EXPECT_THROW((void)train(config), PrivacyError);
    config.plan.epsilon = 10;
    config.plan.rounds = 31;
    EXPECT_THROW((void)train(config), PrivacyError);
    config.plan.rounds = 30;
    config.plan.clip_norm *= 1.01;
    EXPECT_THROW((void)train(config), PrivacyError);
    EXPECT_FALSE(std::filesystem::exists(folder.path("second")));
}

TEST(RunTraining, StopsWhenAskedAndCountsTheRoundsThatHappened) {
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

TEST(RunTraining, ThatFailsKeepsAllPlannedRoundsInTheLedger) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 500);
    config.run_directory = folder.path("run");
    config.plan.steps.step_size = 10;
    config.l2 = 100;
    expect_contains(message_of<Error>([&] { (void)train(config); }), "diverged");
    const Json ledger = test::read_json(folder.path("run/ledger.json"));
    EXPECT_EQ(ledger["status"], "failed");
    EXPECT_LT(ledger["rounds"]["completed"], 500);
    EXPECT_EQ(ledger["rounds"]["accounted"], 500);
    EXPECT_NEAR(ledger["headline"]["epsilon"].get<double>(), 10, 1e-5);
    EXPECT_FALSE(std::filesystem::exists(folder.path("run/summary.json")));
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

TEST(RunTraining, AccountsForRecordsWithEachAgentsOwnShard) {
    const TemporaryFolder folder;
    TrainConfig config = logistic_config(folder, 4, "ldp", 30);
    config.plan.adjacency = Adjacency::record;
    config.plan.participation = {4};
    config.task.partition = {PartitionSpec::Kind::dirichlet, 1, 1};
    config.run_directory = folder.path("run");
    const TrainResult result = train(config);
    EXPECT_NEAR(result.epsilon, 10, 1e-5);
    const Json ledger = test::read_json(folder.path("run/ledger.json"));
    EXPECT_EQ(ledger["participation"], "cyclic:4");
    const auto network = make_memory_network(4, 1);
    const auto records =
        build_task(config.task, *network, Membership::everybody(network->agents())).records;
    EXPECT_NE(*std::ranges::min_element(records), *std::ranges::max_element(records));
    for (std::size_t u = 0; u < 4; ++u) {
        const double batch = std::ceil(static_cast<double>(records[u]) / 4);
        EXPECT_DOUBLE_EQ(ledger["agents"][u]["sensitivity"].get<double>(), 0.2 / batch);
        EXPECT_EQ(ledger["agents"][u]["temporal_sensitivity_squared"], 8);
    }
}

TEST(RunTraining, RefusesWhatItCannotAccountFor) {
    const TemporaryFolder folder;
    TrainConfig record = logistic_config(folder, 4, "ldp", 30);
    record.run_directory = folder.path("run");
    record.plan.adjacency = Adjacency::record;
    record.plan.batch_size = 1000;
    expect_contains(message_of<ConfigError>([&] { (void)train(record); }), "batch-size: 1000");
    record.plan.batch_size = 4;
    record.plan.participation = {1000};
    EXPECT_THROW((void)train(record), ConfigError);

    TrainConfig quadratic = quadratic_config(4, "ldp", 30);
    quadratic.run_directory = folder.path("run");
    quadratic.plan.adjacency = Adjacency::record;
    expect_contains(message_of<ConfigError>([&] { (void)train(quadratic); }), "adjacency");
    quadratic.plan.adjacency = Adjacency::agent;
    quadratic.plan.participation = {2};
    expect_contains(message_of<ConfigError>([&] { (void)train(quadratic); }), "participation");

    const auto with = [&](auto&& change) {
        TrainConfig config = quadratic_config(4, "ldp", 30);
        config.run_directory = folder.path("run");
        change(config);
        return message_of<ConfigError>([&] { (void)train(config); });
    };
    for (const double bad : {0.0, -1.0, std::nan("")}) {
        expect_contains(with([&](TrainConfig& c) { c.plan.steps.step_size = bad; }), "step-size");
        expect_contains(with([&](TrainConfig& c) { c.plan.clip_norm = bad; }), "clip-norm");
        expect_contains(with([&](TrainConfig& c) { c.plan.epsilon = bad; }), "epsilon");
        expect_contains(with([&](TrainConfig& c) { c.plan.delta = bad; }), "delta");
    }
    expect_contains(with([&](TrainConfig& c) { c.l2 = -1; }), "l2");
    expect_contains(with([&](TrainConfig& c) { c.l2 = std::nan(""); }), "l2");
    expect_contains(with([&](TrainConfig& c) { c.plan.rounds = 0; }), "rounds");
    expect_contains(with([&](TrainConfig& c) { c.evaluate_every = -1; }), "eval-every");
    expect_contains(with([&](TrainConfig& c) { c.plan.batch_size = 0; }), "batch-size");
    expect_contains(with([&](TrainConfig& c) { c.plan.mechanism = "cron"; }), "corn");
    expect_contains(with([&](TrainConfig& c) { c.record_views = {1, 4}; }), "record-view");
    expect_contains(with([&](TrainConfig& c) {
                        c.plan.mechanism = "cdp";
                        c.record_wire = true;
                    }),
                    "eavesdropper is not possible with mechanism cdp");
    expect_contains(with([&](TrainConfig& c) { c.mask_partners = 0; }), "mask-partners");
    expect_contains(with([&](TrainConfig& c) {
                        c.plan.mechanism = "cdp";
                        c.secure_sum = true;
                    }),
                    "trusted aggregator");
    // Nothing was trained, so nothing was left.
    EXPECT_FALSE(std::filesystem::exists(folder.path("run")));

    const auto three = make_memory_network(3, 1);
    Watcher watcher;
    TrainConfig config = quadratic_config(4, "ldp", 30);
    config.run_directory = folder.path("run");
    expect_contains(message_of<ConfigError>(
                        [&] { (void)run_training(config, *three, watcher, [] { return false; }); }),
                    "agents");
}

TEST(RunTraining, RecordsEveryKindOfRun) {
    const TemporaryFolder folder;
    const auto views = [&](const std::string& name, auto&& change) {
        TrainConfig config = quadratic_config(5, "ldp", 4);
        config.run_directory = folder.path(name);
        config.record_views = {1};
        config.record_wire = true;
        change(config);
        (void)train(config);
        return folder.path(name + "/views");
    };
    const auto view_of = [](const std::string& recorded) {
        return read_recorded_view(recorded + "/1/view.bin");
    };
    const std::string steps = views("steps", [](TrainConfig& c) {
        c.plan.mechanism = "muffliato";
        c.plan.gossip_steps = 3;
    });
    EXPECT_EQ(view_of(steps).header.gossip_steps, 3);
    EXPECT_EQ(view_of(steps).records.size(), 12U);
    EXPECT_EQ(WireReader(steps + "/wire/3/messages.bin").records(), 12U);
    EXPECT_EQ(WireReader(steps + "/wire/3/messages.bin").header().content, WireContent::messages);

    const std::string schedule = views("schedule", [](TrainConfig& c) {
        c.graph.topology.topology = Topology::exponential;
        c.graph.mixing_schedule = "one-peer";
    });
    const RecordedView changing = view_of(schedule);
    EXPECT_FALSE(changing.records[0].mixing_row == changing.records[1].mixing_row);

    for (const std::string mechanism : {"zip-dl", "homomorphic"}) {
        const std::string own =
            views(mechanism, [&](TrainConfig& c) { c.plan.mechanism = mechanism; });
        EXPECT_EQ(view_of(own).header.outputs, (std::vector<int>{0, 1, 2}));
        EXPECT_EQ(WireReader(own + "/wire/1/messages.bin").header().outputs,
                  (std::vector<int>{0, 2}));
    }

    const std::string sums = views("sums", [](TrainConfig& c) { c.secure_sum = true; });
    EXPECT_EQ(WireReader(sums + "/wire/0/messages.bin").header().content, WireContent::shares);
    const Json manifest = test::read_json(folder.path("sums/manifest.json"));
    EXPECT_EQ(manifest["recorded_wire"], true);
    expect_contains(test::read_json(folder.path("sums/ledger.json"))["statements"].dump(),
                    "The masked shares of all agents are recorded");
    expect_contains(test::read_json(folder.path("steps/ledger.json"))["statements"].dump(),
                    "The messages of all agents are recorded");

    // The wire alone: no gradients, no seeds, and no word of them.
    const std::string wire = views("wire", [](TrainConfig& c) { c.record_views = {}; });
    EXPECT_FALSE(std::filesystem::exists(wire + "/1"));
    EXPECT_EQ(test::read_json(folder.path("wire/ledger.json"))["statements"].dump().find("seeds"),
              std::string::npos);

    // A trusted mean: of agents only, and one exchange a round.
    const std::string mean = views("mean", [](TrainConfig& c) {
        c.plan.mechanism = "cdp";
        c.plan.gossip_steps = 2;
        c.record_wire = false;
    });
    EXPECT_EQ(view_of(mean).header.gossip_steps, 1);
    EXPECT_EQ(view_of(mean).records.size(), 4U);
    EXPECT_FALSE(std::filesystem::exists(mean + "/wire"));
}

TEST(RunTraining, EstimatesWithoutLeavingAnything) {
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
    const Json summary = Json::parse(summary_json(result, config));
    EXPECT_EQ(summary["dry_run"], true);
    EXPECT_DOUBLE_EQ(summary["seconds_estimated"].get<double>(),
                     1e6 * result.estimate.seconds_per_round);
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

TEST(RunTraining, RecordsViewsAndUsesSecureSumsAsConfigured) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(5, "decor", 12);
    const auto models = [&](const std::string& name) {
        config.run_directory = folder.path(name);
        (void)train(config);
        std::vector<Eigen::MatrixXd> all;
        for (int u = 0; u < 5; ++u)
            all.push_back(
                read_npy(folder.path(name + "/agents/" + std::to_string(u) + "/model.npy")));
        return all;
    };
    const auto plain = models("plain");
    EXPECT_FALSE(std::filesystem::exists(folder.path("plain/views")));
    config.record_views = {1, 4};
    EXPECT_EQ(models("recorded") == plain, true);
    const RecordedView view = read_recorded_view(folder.path("recorded/views/4/view.bin"));
    EXPECT_EQ(view.records.size(), 12U);
    EXPECT_EQ(view.header.neighbours, (std::vector<int>{0, 3}));
    EXPECT_EQ(view.header.received, Received::messages);
    EXPECT_TRUE(std::filesystem::exists(folder.path("recorded/views/1/seeds.json")));

    config.secure_sum = true;
    const auto sums = models("sums");
    for (std::size_t u = 0; u < plain.size(); ++u) {
        EXPECT_FALSE(sums[u] == plain[u]);
        EXPECT_LT((sums[u] - plain[u]).cwiseAbs().maxCoeff(), 1e-9);
    }
    const RecordedView of_sums = read_recorded_view(folder.path("sums/views/1/view.bin"));
    EXPECT_EQ(of_sums.header.received, Received::sum);
    EXPECT_EQ(of_sums.records.front().received.cols(), 1);
    const Json manifest = test::read_json(folder.path("sums/manifest.json"));
    EXPECT_EQ(manifest["secure_sum"], true);
    EXPECT_EQ(manifest["recorded_views"], (std::vector<int>{1, 4}));
    expect_contains(manifest["link_encryption"], "one process");
    const std::string statements =
        test::read_json(folder.path("sums/ledger.json"))["statements"].dump();
    expect_contains(statements, "views of agents 1, 4 are recorded");
    expect_contains(statements, "learns only the weighted sum");
}

TEST(RunTraining, SaysForWhichCoalitionsASecureSumHolds) {
    const TemporaryFolder folder;
    const auto statements = [&](Topology topology, int partners) {
        TrainConfig config = quadratic_config(6, "ldp", 3);
        config.graph.topology.topology = topology;
        config.secure_sum = true;
        config.mask_partners = partners;
        config.dry_run = true;
        Watcher watcher;
        (void)train(config, watcher, [] { return false; });
        return watcher.report;
    };
    expect_contains(statements(Topology::complete, 16), "only the sum of the others");
    expect_contains(statements(Topology::complete, 1), "up to 1 of its neighbours");
    expect_contains(statements(Topology::star, 16), "5 agents have one neighbour");
}

TEST(DryRun, OfFewCorrelatedRoundsDrawsNoMoreThanThePlanCovers) {
    TrainConfig config = quadratic_config(4, "anti-pgd", 3);
    config.dry_run = true;
    Watcher watcher;
    const TrainResult result = train(config, watcher, [] { return false; });
    EXPECT_GT(result.estimate.seconds_per_round, 0);
    EXPECT_FALSE(result.estimate.past_noise_again);
}

}  // namespace
}  // namespace sotto
