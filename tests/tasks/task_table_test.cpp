#include "tasks/task_table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "config/run_fixtures.hpp"
#include "learn/quadratic.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "tasks/task.hpp"
#include "tasks/task_fixtures.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::build;
using test::expect_contains;
using test::Json;
using test::message_of;
using test::models_of;
using test::on;
using test::TemporaryFolder;
using test::train;

/// Running averages of a table of `agents` times `records` rows, which lie in order in its file.
TrainConfig averaging_config(const TemporaryFolder& folder,
                             const std::string& data,
                             int agents,
                             long rounds) {
    TrainConfig config = test::quadratic_config(agents, "none", rounds);
    config.task.task = "averaging";
    config.task.data = data;
    config.task.partition = {PartitionSpec::Kind::iid, 0, 1};
    config.plan.steps = {StepSchedule::Kind::inverse, 1, {}};
    config.plan.batch_size = std::nullopt;
    config.plan.clip_norm = 100;  // no value is as long
    config.l2 = 1;
    config.run_directory = folder.path("run");
    return config;
}

std::string csv_of(const Eigen::MatrixXd& rows) {
    std::string text;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
        for (Eigen::Index j = 0; j < rows.cols(); ++j)
            text += (j > 0 ? "," : "") + fmt::format("{}", rows(i, j));
        text += "\n";
    }
    return text;
}

Eigen::MatrixXd random_rows(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
    return test::random_vector(rows * columns, 1, seed).reshaped(rows, columns);
}

constexpr double grid = 0x1p-40;  // of mechanism none

TEST(AveragingTask, ComesToTheMeanOfAllValues) {
    for (const std::uint64_t seed : {1u, 2u}) {
        const TemporaryFolder folder;
        constexpr int agents = 6;
        const Eigen::MatrixXd values = random_rows(agents * 7, 3, seed);
        const Eigen::VectorXd mean = values.colwise().mean().transpose();
        TrainConfig config =
            averaging_config(folder, folder.write("values.csv", csv_of(values)), agents, 21);
        // Equal shards: in cycles of 7, every value once a cycle, and all of them every round.
        for (const bool cyclic : {false, true}) {
            config.run_directory = folder.path(cyclic ? "cyclic" : "full");
            config.plan.adjacency = cyclic ? Adjacency::record : Adjacency::agent;
            config.plan.participation = {cyclic ? 7 : 1};
            const TrainResult result = train(config);
            const Eigen::MatrixXd models = models_of(config);
            EXPECT_LE((models.rowwise().mean() - mean).cwiseAbs().maxCoeff(), 2 * grid)
                << "seed " << seed;
            EXPECT_NEAR(result.evaluation.test_loss_mean_model, 0, 1e-20);
            EXPECT_NEAR(result.evaluation.optimality_gap, 0, 1e-12);
            EXPECT_NEAR(result.evaluation.test_loss,
                        0.5 * (models.colwise() - mean).squaredNorm() / agents,
                        1e-12);
        }
    }
}

TEST(AveragingTask, EveryModelIsTheMeanOnACompleteGraphWithOneAverageAStep) {
    const TemporaryFolder folder;
    const Eigen::MatrixXd values = random_rows(20, 2, 3);
    TrainConfig config = averaging_config(folder, folder.write("values.csv", csv_of(values)), 5, 4);
    config.graph.topology.topology = Topology::complete;
    config.graph.mixing = "uniform";
    (void)train(config);
    const Eigen::VectorXd mean = values.colwise().mean().transpose();
    EXPECT_LE((models_of(config).colwise() - mean).cwiseAbs().maxCoeff(), 2 * grid);
}

TEST(AveragingTask, RunsTheRunningAverages) {
    const TemporaryFolder folder;
    constexpr int agents = 5;
    // One file an agent: every agent's values are known, in the order of the agents.
    Eigen::MatrixXd means(agents, 2);
    for (int u = 0; u < agents; ++u) {
        const Eigen::MatrixXd values = random_rows(4 + u, 2, static_cast<std::uint64_t>(u + 1));
        (void)folder.write(fmt::format("values-{}.csv", u), csv_of(values));
        means.row(u) = values.colwise().mean();
    }
    TrainConfig config = averaging_config(folder, folder.path("values-%r.csv"), agents, 9);
    config.plan.gossip_steps = 2;
    const TrainResult result = train(config);
    const Eigen::MatrixXd w = Eigen::MatrixXd(
        build_topography(config.graph, config.plan.rounds).topography.mixing.sparse());
    // x_T = (1/T) sum_{k=1..T} W^{2k} y: X_t = t x_t follows X <- W^2 (X + y).
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(agents, 2);
    for (int t = 0; t < 9; ++t) sum = (w * w * (sum + means)).eval();
    EXPECT_LE((models_of(config).transpose() - sum / 9).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_NEAR(result.evaluation.test_loss_mean_model, 0, 1e-20)
        << "the mean of the agents' means, whatever their numbers of records";
}

TEST(AveragingTask, AveragesValuesThatAreClipped) {
    const TemporaryFolder folder;
    const Eigen::MatrixXd values = random_rows(24, 3, 11);
    TrainConfig config = averaging_config(folder, folder.write("values.csv", csv_of(values)), 4, 3);
    config.plan.adjacency = Adjacency::record;
    config.plan.clip_norm = 1.25;
    (void)train(config);
    Eigen::VectorXd expected = Eigen::VectorXd::Zero(3);
    for (Eigen::Index i = 0; i < 24; ++i)
        expected += values.row(i).transpose() * std::min(1.0, 1.25 / values.row(i).norm()) / 24;
    EXPECT_LE((models_of(config).rowwise().mean() - expected).cwiseAbs().maxCoeff(), 4 * grid);
    EXPECT_GT((expected - values.colwise().mean().transpose()).norm(), 1e-3);
}

TEST(AveragingTask, TakesLargeValuesOneByOne) {
    const TemporaryFolder folder;
    const Eigen::MatrixXd values = 1e6 * random_rows(20, 2, 5);
    TrainConfig config = averaging_config(folder, folder.write("values.csv", csv_of(values)), 4, 5);
    config.plan.adjacency = Adjacency::record;
    config.plan.participation = {5};
    config.plan.clip_norm = 1e7;
    (void)train(config);
    const Eigen::VectorXd mean = values.colwise().mean();
    EXPECT_LE((models_of(config).rowwise().mean() - mean).norm(), 1e-9 * mean.norm());
}

TEST(AveragingTask, RunsOnSyntheticValuesWithEveryMechanismOnGradients) {
    for (const char* mechanism : {"ldp", "decor", "pairs", "corn", "muffliato", "cdp"}) {
        const TemporaryFolder folder;
        TrainConfig config = averaging_config(folder, "synthetic", 5, 20);
        config.plan.mechanism = mechanism;
        config.plan.clip_norm = 1;
        config.plan.epsilon = 50;
        config.plan.gossip_steps = std::string(mechanism) == "muffliato" ? 3 : 1;
        const TrainResult result = train(config);
        EXPECT_NEAR(result.epsilon, 50, 1e-4) << mechanism;
        EXPECT_NEAR(result.evaluation.optimality_gap, result.evaluation.test_loss_mean_model, 1e-9)
            << mechanism;
        EXPECT_GT(result.evaluation.test_loss_mean_model, 0) << mechanism;
        const Json ledger = test::read_json(folder.path("run/ledger.json"));
        expect_contains(ledger["statements"].dump(), "fixed in advance");
    }
}

TEST(AveragingTask, HasPartialViewsThatAreExactAndThoseOfEqualSteps) {
    const TemporaryFolder folder;
    TrainConfig config = averaging_config(folder, "synthetic", 6, 15);
    config.plan.mechanism = "ldp";
    config.plan.clip_norm = 1;
    config.views = "node:2";
    (void)train(config);
    const Json view = test::read_json(folder.path("run/ledger.json"))["views"][0];
    EXPECT_EQ(view["argument"], "exact, inputs fixed in advance");
    EXPECT_EQ(view["statement"].dump().find("not a guarantee"), std::string::npos);

    // Whoever sees x sees (t + 1) x, which grows by W (y + noise) a round.
    const BuiltTopography built = build_topography(config.graph, config.plan.rounds);
    const NoisePlan plan = plan_from_json(read_file(folder.path("run/plan.json")), "plan");
    MessageProcess process;
    process.graph = &built.topography.graph;
    process.plan = &plan;
    process.phases.push_back({15, MixingSchedule({built.topography.mixing}), {}});
    const std::vector<int> others{0, 1, 3, 4, 5};
    double largest = 0;
    for (const auto& squared :
         view_sensitivity(process, {View::Kind::neighbours, {2}}, others, {}, {.tight_gap = 1}))
        largest = std::max(largest, 2 * std::sqrt(squared.certified()));
    EXPECT_NEAR(view["mu"], largest, 1e-9 * largest);
}

TEST(AveragingTask, RefusesWhatWouldNotAverage) {
    const TemporaryFolder folder;
    const TrainConfig good = averaging_config(folder, "synthetic", 4, 3);
    const auto refusal = [&](auto&& change) {
        TrainConfig config = good;
        change(config);
        return message_of<ConfigError>([&] { (void)train(config); });
    };
    expect_contains(refusal([](TrainConfig& c) { c.l2 = 0.5; }), "l2: 0.5");
    expect_contains(refusal([](TrainConfig& c) { c.task.test_data = "x.csv"; }), "test-data");
    expect_contains(refusal([](TrainConfig& c) { c.task.hidden = 3; }), "hidden");
    const std::string table = folder.write("t.csv", "1,2\n3,4\n5,6\n7,8\n");
    expect_contains(refusal([&](TrainConfig& c) {
                        c.task.data = table;
                        c.task.partition = {PartitionSpec::Kind::dirichlet, 10, 1};
                    }),
                    "partition");
}

/// Records of three classes with this many features.
TaskConfig images_of(const test::TemporaryFolder& folder, int features) {
    std::string text;
    for (int i = 0; i < 30; ++i)
        text += std::to_string(i % 3) + " " + std::to_string(i % (features - 1) + 1) + ":1 " +
                std::to_string(features) + ":0.5\n";
    TaskConfig config = test::on(folder.write("data" + std::to_string(features), text));
    config.task = "cnn";
    return config;
}

TEST(CnnTask, TakesASquareNumberOfFeaturesForAnImage) {
    const test::TemporaryFolder folder;
    // 3 x 3 to 16 channels with their norm, the same to 32, and a dense layer from a quarter of a
    // quarter of the image.
    const auto dimension = [](int side, int classes) {
        return 16 * 9 + 16 + 32 + 32 * 16 * 9 + 32 + 64 +
               classes * (32 * (side / 4) * (side / 4) + 1);
    };
    for (const int side : {4, 8})
        EXPECT_EQ(build(images_of(folder, side * side), 2).initial.size(), dimension(side, 3));
}

TEST(CnnTask, RefusesWhatIsNoImage) {
    const test::TemporaryFolder folder;
    expect_contains(message_of<DataError>([&] { (void)build(images_of(folder, 15), 1); }),
                    "15 features are not an image");
}

TEST(LogisticTask, HasAWeightAFeatureAndABias) {
    const test::TemporaryFolder folder;
    const TaskConfig config = on(folder.write("data.txt", test::records_with_own_feature(20)));
    const LocalTask task = build(config, 2);
    EXPECT_EQ(task.initial, Eigen::VectorXd::Zero(21));
    EXPECT_TRUE(task.has_records);
    EXPECT_FALSE(task.fixed_inputs);
    for (const auto& objective : task.objectives) {
        const LossSum loss = objective->train_loss(task.initial);
        EXPECT_NEAR(loss.loss, static_cast<double>(loss.records) * std::log(2), 1e-12);
        EXPECT_TRUE(loss.has_accuracy);
    }
}

TEST(LogisticTask, HasTwoClassesAndNoHiddenLayer) {
    const test::TemporaryFolder folder;
    TaskConfig config = on(folder.write("three.txt", "1 1:1\n2 2:1\n3 3:1\n1 4:1\n"));
    expect_contains(message_of<DataError>([&] { (void)build(config, 1); }), "two classes");
    config = on(folder.write("values.csv", "1,2,3\n4,5,6\n7,8,9\n1,1,1\n"));
    config.standardise = Standardise::none;
    expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }),
                    "'logistic' needs classes");
    config = on(folder.write("data.txt", test::records_with_own_feature(20)));
    config.hidden = 3;
    expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }),
                    "hidden: 3 is given, but task 'logistic' has no hidden layer (allowed: mlp)");
}

TaskConfig mlp_on(const std::string& data) {
    TaskConfig config = test::on(data);
    config.task = "mlp";
    return config;
}

/// Eight features; of classes 0 to 3, or of values.
std::string records(bool values) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
        std::string row = values ? "" : std::to_string(i % 4);
        for (int j = 0; j < 8; ++j)
            row += (values ? "" : " " + std::to_string(j + 1) + ":") +
                   std::to_string(1 + (i * (j + 1)) % 11) + (values ? "," : "");
        text += row + (values ? std::to_string(i) : "") + "\n";
    }
    return text;
}

TEST(MlpTask, HasAsManyHiddenUnitsAsIsSaid) {
    const test::TemporaryFolder folder;
    for (const auto& [values, usual] : {std::pair(false, 128L), {true, 64L}}) {
        TaskConfig config = mlp_on(folder.write(values ? "v.csv" : "c.txt", records(values)));
        if (values) config.standardise = Standardise::none;
        const auto dimension = [&](long hidden) {
            const long outputs = values ? 1 : 4;
            return hidden * (8 + 1) + outputs * (hidden + 1);
        };
        EXPECT_EQ(build(config, 2).initial.size(), dimension(usual));
        config.hidden = 5;
        EXPECT_EQ(build(config, 2).initial.size(), dimension(5));
    }
}

TEST(MlpTask, RefusesALayerWithoutUnits) {
    const test::TemporaryFolder folder;
    TaskConfig config = mlp_on(folder.write("c.txt", records(false)));
    for (const long hidden : {0L, -1L, 1000001L}) {
        config.hidden = hidden;
        expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }), "hidden");
    }
}

TEST(PythonTask, SaysWhereItsGradientsComeFrom) {
    TaskConfig config;
    config.task = python_task_name;
    test::expect_contains(test::message_of<ConfigError>([&] { (void)test::build(config, 2); }),
                          "task: python has its gradients from a Python program");
}

TEST(QuadraticTask, HasNoRecords) {
    TaskConfig config;
    config.task = "quadratic";
    const LocalTask task = build(config, 6);
    EXPECT_FALSE(task.has_records);
    EXPECT_EQ(task.initial, Eigen::Vector2d::Zero());
    EXPECT_EQ(task.records, std::vector<Eigen::Index>(6, 1));
    for (int u = 0; u < 6; ++u) {
        Eigen::Vector2d wanted, got;
        make_quadratic_objective(u, 6)->mean_gradient(task.initial, {}, wanted);
        task.objectives[static_cast<std::size_t>(u)]->mean_gradient(task.initial, {}, got);
        EXPECT_EQ(got, wanted);
    }
}

TEST(QuadraticTask, GoesByTheNumbersOfAgentsThatAreThere) {
    TaskConfig config;
    config.task = "quadratic";
    const auto network = make_memory_network(2, 1);
    const LocalTask task = build_task(config, *network, Membership{6, {1, 4}});
    for (const auto& [place, number] : {std::pair(0, 1), {1, 4}}) {
        Eigen::Vector2d wanted, got;
        make_quadratic_objective(number, 6)->mean_gradient(task.initial, {}, wanted);
        task.objectives[static_cast<std::size_t>(place)]->mean_gradient(task.initial, {}, got);
        EXPECT_EQ(got, wanted);
    }
}

TaskConfig three_classes(const test::TemporaryFolder& folder) {
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i % 3) + " " + std::to_string(i % 5 + 1) + ":1\n";
    TaskConfig config = test::on(folder.write("data.txt", text));
    config.task = "softmax";
    return config;
}

TEST(SoftmaxTask, BeginsWithEveryClassEquallyLikely) {
    const test::TemporaryFolder folder;
    const LocalTask task = build(three_classes(folder), 3);
    EXPECT_EQ(task.initial, Eigen::VectorXd::Zero(3 * (5 + 1)));
    for (const auto& objective : task.objectives) {
        const LossSum loss = objective->train_loss(task.initial);
        EXPECT_NEAR(loss.loss, static_cast<double>(loss.records) * std::log(3), 1e-12);
    }
}

TEST(SoftmaxTask, NeedsTwoClassesAndNoHiddenLayer) {
    const test::TemporaryFolder folder;
    TaskConfig config = three_classes(folder);
    config.hidden = 3;
    expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }), "hidden: 3");
    config = three_classes(folder);
    config.data = folder.write("one.csv", "1,2\n3,4\n5,6\n7,8\n");
    config.standardise = Standardise::none;
    expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }),
                    "has a number to predict (allowed: --task mlp)");
}

using Names = std::vector<std::string>;

TEST(TaskTable, SaysOfEveryTaskHowItIsMade) {
    for (const TaskRecord& task : tasks().records()) {
        EXPECT_FALSE(task.summary.empty()) << task.name;
        EXPECT_NE(task.objective != nullptr, task.build != nullptr) << task.name;
        EXPECT_EQ(task.needs_records(), task.objective != nullptr) << task.name;
        EXPECT_EQ(tasks().look_up(task.name), &task);
    }
}

TEST(TaskTable, HasTheTasksOfTheDocument) {
    const std::string document = read_file(SOTTO_SOURCE_DIR "/docs/tasks.md");
    for (const char* name : {"quadratic", "logistic", "softmax", "mlp", "cnn", "averaging"}) {
        EXPECT_NE(tasks().look_up(name), nullptr) << name;
        EXPECT_NE(document.find("\n| `" + std::string(name) + "`"), std::string::npos) << name;
    }
}

TEST(TaskTable, FindsTasksByWhatHoldsForThem) {
    EXPECT_EQ(task_names_where(&TaskRecord::needs_records),
              (Names{"logistic", "softmax", "mlp", "cnn"}));
    EXPECT_EQ(task_names_where(&TaskRecord::takes_values), Names{"mlp"});
    EXPECT_EQ(task_names_where(&TaskRecord::fixed_inputs), Names{"averaging"});
    EXPECT_EQ(task_names_where([](const TaskRecord& task) { return task.has_option("hidden"); }),
              Names{"mlp"});
    EXPECT_EQ(task_names_where([](const TaskRecord&) { return true; }), task_names());
}

TEST(TaskTable, AveragingMakesRunningAveragesUnlessToldOtherwise) {
    const TaskRecord& averaging = tasks().find("task", "averaging");
    std::string text;
    for (const auto& [option, value] : averaging.defaults) text += option + " " + value + "\n";
    EXPECT_EQ(text,
              "step-size 1\nstep-schedule inverse\nl2 1\nclip-norm 1\nbatch-size all\n"
              "partition iid\n");
}

}  // namespace
}  // namespace sotto
