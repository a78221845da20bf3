#include "training/prepare_run.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tasks/task.hpp"
#include "training/participants.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::logistic_config;
using test::message_of;
using test::quadratic_config;
using test::TemporaryFolder;
using test::train;
using test::Watcher;

TEST(PrepareRun, RefusesAnEpsilonThatTheTailsOfOneRoundsNoiseDoNotHold) {
    const TemporaryFolder folder;
    for (const char* mechanism : {"ldp", "laplace"}) {
        TrainConfig config = quadratic_config(4, mechanism, 1);
        config.run_directory = folder.path("run");
        config.plan.epsilon = 300;
        const std::string message = message_of<PrivacyError>([&] { (void)train(config); });
        expect_contains(message, "tails: ");
        expect_contains(message, "--epsilon");
        EXPECT_FALSE(std::filesystem::exists(folder.path("run")));
        config.plan.epsilon = 10;
        EXPECT_NO_THROW((void)train(config));
        std::filesystem::remove_all(folder.path("run"));
    }
}

TEST(PrepareRun, RefusesWhatItCannotAccountFor) {
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
    expect_contains(with([&](TrainConfig& c) {
                        c.plan.mechanism = "cdp";
                        c.precision = MessagePrecision::float32;
                    }),
                    "precision: float32 is not possible with mechanism cdp");
    expect_contains(with([&](TrainConfig& c) {
                        c.secure_sum = true;
                        c.precision = MessagePrecision::float32;
                    }),
                    "precision: float32 is not possible with --secure-sum on");
    expect_contains(with([&](TrainConfig& c) {
                        c.task.task = "averaging";
                        c.l2 = 1;
                        c.precision = MessagePrecision::float32;
                    }),
                    "precision: float32 is not possible where inputs are fixed in advance");
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

TEST(PrepareRun, LeavesNothingBehindAndKnowsTheRun) {
    const TemporaryFolder folder;
    TrainConfig config = logistic_config(folder, 4, "corn", 30);
    config.run_directory = folder.path("run");
    const auto network = make_memory_network(4, 1);
    const PreparedRun prepared = test::prepare(config, *network);
    EXPECT_FALSE(std::filesystem::exists(folder.path("run")));
    const sotto::Run& run = prepared.run;
    EXPECT_TRUE(run.leader());
    EXPECT_TRUE(run.resumable);
    EXPECT_TRUE(run.optimality_gap) << "all agents live in one process";
    EXPECT_EQ(run.members.numbers, Membership::everybody(4).numbers);
    EXPECT_EQ(run.graph_description, prepared.built->description);
    EXPECT_EQ(run.phase.rounds, 30);
    EXPECT_EQ(run.key_epoch, 0U);
    EXPECT_EQ(run.session.announcements.size(), 4U);
    EXPECT_EQ(run.most_past_bytes(), std::int64_t{2048} << 20);
    ASSERT_EQ(prepared.agents.size(), 4U);
    for (int u = 0; u < 4; ++u) EXPECT_EQ(prepared.agents[static_cast<std::size_t>(u)].number, u);
    EXPECT_EQ(prepared.initial.size(), 124);
    expect_contains(prepared.report, "corn");

    const RunHistory& history = prepared.history;
    EXPECT_EQ(history.run, run.session.run_id);
    EXPECT_EQ(history.starts, 0);
    ASSERT_EQ(history.phases.size(), 1U);
    EXPECT_EQ(history.phases[0].plan.hash(), run.plan.hash());
    EXPECT_EQ(history.phases[0].rounds, 30);
    EXPECT_EQ(history.phases[0].sensitivity, std::vector<double>(4, 2 * config.plan.clip_norm));
    EXPECT_NEAR(prepared.ledger.epsilon_after(30), config.plan.epsilon, 1e-5);

    const TrainResult result = result_with_account(prepared, 0);
    EXPECT_EQ(result.mechanism, "corn");
    EXPECT_EQ(result.agents, 4);
    EXPECT_EQ(result.rounds, 0);
    EXPECT_EQ(result.delta, config.plan.delta);
    EXPECT_EQ(result.plan_seconds, prepared.planned->seconds);
    EXPECT_FALSE(result.resumed);
}

TEST(PrepareRun, NamesTheFilesThatWereReadWhateverBecomesOfThem) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(2, "ldp", 10);
    config.task.task = "logistic";
    config.task.data = folder.path("site*.svm");
    config.plan.batch_size = 2;
    for (const char* site : {"site2.svm", "site10.svm"})
        (void)folder.write(site, "+1 1:1\n-1 2:1\n+1 1:1\n-1 2:1\n+1 1:1\n-1 2:1\n");
    const auto network = make_memory_network(2, 1);
    const PreparedRun prepared = test::prepare(config, *network, [&] {
        return build_task(config.task, *network, Membership::everybody(2));
    });
    for (const char* site : {"site2.svm", "site10.svm"}) std::filesystem::remove(folder.path(site));
    EXPECT_EQ(result_with_account(prepared, 0).agent_files,
              (std::vector<std::string>{"site2.svm", "site10.svm"}));
}

TEST(PrepareRun, TakesATaskThatNoConfigurationNames) {
    TrainConfig config = quadratic_config(3, "ldp", 10);
    config.optimality_gap = false;
    config.plan.epsilon = 0.01;
    const auto network = make_memory_network(3, 1);
    bool coordinates = true;
    const auto make_task = [&] {
        LocalTask task = build_task(config.task, *network, Membership::everybody(3));
        task.description = "mine";
        task.statements = {"As I say."};
        task.rows_are_rounds = true;
        task.coordinates = coordinates;
        return task;
    };
    const PreparedRun prepared = test::prepare(config, *network, make_task);
    EXPECT_FALSE(prepared.run.resumable);
    EXPECT_FALSE(prepared.run.optimality_gap);
    EXPECT_EQ(prepared.run.task_description, "mine");
    EXPECT_TRUE(prepared.coordinates);
    EXPECT_EQ(statements_of(prepared.ledger.record()).back(), "As I say.");
    EXPECT_TRUE(prepared.warnings.empty()) << "canaries learn nothing";
    coordinates = false;
    const auto another = make_memory_network(3, 1);
    EXPECT_FALSE(test::prepare(config, *another, make_task).warnings.empty()) << "noise drowns it";
}

TEST(AgreedPhase, RefusesAPlanFileWithoutNoiseForABudget) {
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

TEST(AgreedPhase, RefusesAPlanFileForAnotherBudget) {
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

TEST(AgreedPhase, AccountsForRecordsWithEachAgentsOwnShard) {
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

TEST(AgreedPhase, IsThatOfAWholeRunWhereNothingWasDoneBefore) {
    const TrainConfig config = quadratic_config(4, "corn", 30);
    const auto network = make_memory_network(4, 1);
    const Participants there =
        gather_participants(config, *network, agree_on_members(config, *network, nullptr));
    const LocalTask task = build_task(config.task, *network, there.members);
    const AgreedPhase phase = agree_on_phase(config, *network, there, task, std::nullopt);
    EXPECT_EQ(phase.config.rounds, 30);
    EXPECT_EQ(phase.config.steps.first_round, 0);
    ASSERT_TRUE(phase.planned);
    EXPECT_EQ(phase.plan.hash(), phase.planned->design.plan.hash());
    EXPECT_FALSE(phase.resumption);
    ASSERT_EQ(phase.exposures.size(), 4U);
    for (const Exposure& exposure : phase.exposures)
        EXPECT_EQ(exposure.sensitivity, 2 * config.plan.clip_norm);
    EXPECT_EQ(phase.budgets.size(), 4U);
    EXPECT_EQ(phase.run_budgets.size(), 4U);
}

TEST(AgreedPhase, CountsSecretSamplingWithEachAgentsOwnProbability) {
    const TemporaryFolder folder;
    for (const std::string mechanism : {"ldp", "corn", "pairs", "cdp"}) {
        TrainConfig config = logistic_config(folder, 4, mechanism, 30);
        config.plan.adjacency = Adjacency::record_add_remove;
        config.plan.participation = {.cycle = 1, .poisson = true};
        config.plan.epsilon = 1;
        config.plan.batch_size = 3;
        config.task.partition = {PartitionSpec::Kind::dirichlet, 1, 1};
        config.run_directory = folder.path(mechanism);
        const TrainResult result = train(config);
        EXPECT_LE(result.epsilon, 1);
        EXPECT_GT(result.epsilon, 0.99) << mechanism << ": more noise than asked for";
        const Json ledger = test::read_json(folder.path(mechanism + "/ledger.json"));
        EXPECT_EQ(ledger["participation"], "poisson");
        const auto network = make_memory_network(4, 1);
        const auto records =
            build_task(config.task, *network, Membership::everybody(network->agents())).records;
        EXPECT_NE(*std::ranges::min_element(records), *std::ranges::max_element(records));
        for (std::size_t u = 0; u < 4; ++u) {
            const Json& agent = ledger["agents"][u];
            EXPECT_DOUBLE_EQ(agent["sensitivity"].get<double>(), 0.1 / 3);
            EXPECT_TRUE(agent["mu"].is_null());
            const Json& rounds = agent["loss"]["sampled_rounds"].at(0);
            EXPECT_EQ(rounds["count"], 30);
            // A multiple of 2^-53, never above B / N.
            const double asked = 3 / static_cast<double>(records[u]);
            EXPECT_LE(rounds["sampling_probability"].get<double>(), asked);
            EXPECT_GT(rounds["sampling_probability"].get<double>(), asked - 0x1p-53);
        }
    }
}

TEST(AgreedPhase, CountsEpochsOfRandomAllocation) {
    const TemporaryFolder folder;
    for (const std::string mechanism : {"ldp", "corn", "pairs", "cdp"}) {
        TrainConfig config = logistic_config(folder, 4, mechanism, 32);
        config.plan.adjacency = Adjacency::record_add_remove;
        config.plan.participation = {.rounds_an_epoch = 10};
        config.plan.epsilon = 1;
        config.run_directory = folder.path(mechanism);
        const TrainResult result = train(config);
        EXPECT_LE(result.epsilon, 1);
        EXPECT_GT(result.epsilon, 0.99) << mechanism << ": more noise than asked for";
        const Json ledger = test::read_json(folder.path(mechanism + "/ledger.json"));
        EXPECT_EQ(ledger["participation"], "allocation:10");
        for (const Json& agent : ledger["agents"]) {
            const Json& rounds = agent["loss"]["sampled_rounds"].at(0);
            EXPECT_EQ(rounds["count"], 4) << "the last epoch counts whole";
            EXPECT_EQ(rounds["rounds_an_epoch"], 10);
        }
    }
}

TEST(AgreedPhase, RefusesSecretSamplingWhereNothingIsProved) {
    const TemporaryFolder folder;
    for (const std::string mechanism : {"zip-dl", "anti-pgd"}) {
        TrainConfig config = logistic_config(folder, 4, mechanism, 10);
        config.plan.adjacency = Adjacency::record_add_remove;
        config.plan.participation = {.cycle = 1, .poisson = true};
        config.plan.batch_size = 3;
        config.run_directory = folder.path(mechanism);
        EXPECT_THROW((void)train(config), ConfigError) << mechanism;
    }
}

TEST(AgreedPhase, CountsRoundsOfSampledPartsForRecordsOfTheLongestPattern) {
    const TemporaryFolder folder;
    for (const std::string mechanism : {"ldp", "pairs", "mafalda", "space-time"}) {
        TrainConfig config = logistic_config(folder, 4, mechanism, 30);
        config.plan.adjacency = Adjacency::record_add_remove;
        config.plan.participation = {.cycle = 4, .poisson = true};
        config.plan.epsilon = 2;
        config.plan.batch_size = 3;
        config.run_directory = folder.path(mechanism);
        const TrainResult result = train(config);
        EXPECT_LE(result.epsilon, 2);
        EXPECT_GT(result.epsilon, 1.98) << mechanism << ": more noise than asked for";
        const Json ledger = test::read_json(folder.path(mechanism + "/ledger.json"));
        EXPECT_EQ(ledger["participation"], "cyclic-poisson:4");
        const auto network = make_memory_network(4, 1);
        const auto records =
            build_task(config.task, *network, Membership::everybody(network->agents())).records;
        for (std::size_t u = 0; u < 4; ++u) {
            const Json& agent = ledger["agents"][u];
            EXPECT_DOUBLE_EQ(agent["sensitivity"].get<double>(), 0.1 / 3);
            EXPECT_NEAR(agent["temporal_sensitivity_squared"].get<double>(), 8, 1e-7);
            const Json& rounds = agent["loss"]["sampled_rounds"].at(0);
            EXPECT_EQ(rounds["count"], 8);
            EXPECT_NEAR(rounds["sampling_probability"].get<double>(),
                        12 / static_cast<double>(records[u]),
                        0x1p-53);
        }
    }
}

TEST(AgreedPhase, RefusesSampledPartsWhoseRoundsMeet) {
    const TemporaryFolder folder;
    const auto refusal = [&](const std::string& mechanism, const TemporalShape& shape) {
        TrainConfig config = logistic_config(folder, 4, mechanism, 10);
        config.plan.adjacency = Adjacency::record_add_remove;
        config.plan.participation = {.cycle = 4, .poisson = true};
        config.plan.temporal = shape;
        config.plan.open.temporal = false;
        config.plan.batch_size = 3;
        config.run_directory = folder.path("refused");
        return message_of<ConfigError>([&] { (void)train(config); });
    };
    expect_contains(refusal("mafalda", {}), "banded:B with B up to 3");
    expect_contains(refusal("space-time", {TemporalShape::Kind::one_lag, 0, 0}), "one-lag");
    expect_contains(refusal("anti-pgd", {}), "shares some with round");
    expect_contains(refusal("zip-dl", {}), "not Gaussian noise on gradients");
    EXPECT_FALSE(std::filesystem::exists(folder.path("refused")));
}

TEST(AgreedPhase, LeavesTheChosenCycleInTheRunsOptions) {
    const TemporaryFolder folder;
    TrainConfig config = logistic_config(folder, 4, "mafalda", 24);
    config.plan.adjacency = Adjacency::record_add_remove;
    config.plan.participation = {.cycle = 1, .poisson = true};
    config.plan.open.cycle = true;
    config.plan.epsilon = 20;
    config.plan.batch_size = 3;
    config.run_directory = folder.path("run");
    EXPECT_LE(train(config).epsilon, 20);
    const Json ledger = test::read_json(folder.path("run/ledger.json"));
    const std::string chosen = ledger["participation"];
    EXPECT_EQ(chosen.find("auto"), std::string::npos);
    expect_contains(read_file(folder.path("run/config.ini")), chosen);
}

}  // namespace
}  // namespace sotto
