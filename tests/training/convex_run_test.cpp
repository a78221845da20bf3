#include "training/convex_run.hpp"

#include <algorithm>
#include <cmath>

#include "core/seeded_random.hpp"
#include "learn/feature_norm.hpp"
#include "learn/logistic.hpp"
#include "privacy/ledger_json.hpp"
#include "training/run_subject.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::logistic_config;
using test::message_of;
using test::TemporaryFolder;

/// A training that enforces convex losses, with the longest step: R = 2, beta = 1.
TrainConfig convex_config(const TemporaryFolder& folder) {
    TrainConfig config = logistic_config(folder, 6, "ldp", 12);
    config.plan.adjacency = Adjacency::record;
    config.plan.batch_size = std::nullopt;
    config.plan.clip_norm = 1;
    config.plan.steps.step_size = 2;
    config.task.feature_norm = 2;
    config.views = "node:0";
    return config;
}

std::optional<ConvexLosses> enforced(const TrainConfig& config) {
    const auto network = make_memory_network(config.graph.topology.agents, 1);
    return test::prepare(config, *network).ledger.record().convex;
}

TEST(ConvexRun, StatesWhatItEnforces) {
    const TemporaryFolder folder;
    TrainConfig config = convex_config(folder);
    EXPECT_EQ(enforced(config), (ConvexLosses{2, 1, 0, 2}));
    config.l2 = 0.5;
    config.plan.steps.step_size = 1;
    EXPECT_EQ(enforced(config), (ConvexLosses{2, 1, 0.5, 1}));
    config.task.feature_norm.reset();
    EXPECT_EQ(enforced(config), std::nullopt);
}

TEST(ConvexRun, RefusesStepsThatAreTooLong) {
    const TemporaryFolder folder;
    TrainConfig config = convex_config(folder);
    config.plan.steps.step_size = std::nextafter(2.0, 3.0);
    expect_contains(message_of<ConfigError>([&] { (void)enforced(config); }),
                    "step-size: a step of 2 moves models apart with --feature-norm 2 (allowed in "
                    "every round: up to 2,");
    // One round is enough.
    config.plan.steps.step_size = 1;
    config.plan.steps.kind = StepSchedule::Kind::piecewise;
    config.plan.steps.pieces = {{11, 2.01}};
    expect_contains(message_of<ConfigError>([&] { (void)enforced(config); }), "a step of 2.01");
    config.plan.steps.pieces = {{11, 2}};
    EXPECT_EQ(enforced(config)->largest_step, 2);
    config.l2 = 1e-6;
    expect_contains(message_of<ConfigError>([&] { (void)enforced(config); }), "step-size: ");
}

TEST(ConvexRun, RefusesWhatDoesNotKeepLossesConvexOrHasNoBound) {
    const TemporaryFolder folder;
    const auto expect_refusal = [&](const auto& change, const std::string& part) {
        TrainConfig config = convex_config(folder);
        change(config);
        expect_contains(message_of<ConfigError>([&] { (void)enforced(config); }), part);
    };
    expect_refusal([](TrainConfig& c) { c.plan.adjacency = Adjacency::agent; },
                   "clip-norm: 1 is not possible with --feature-norm 2 and --adjacency agent");
    expect_refusal([](TrainConfig& c) { c.task.task = "softmax"; }, "(allowed: logistic)");
    expect_refusal([](TrainConfig& c) { c.plan.momentum = 0.5; },
                   "feature-norm: no bound is known");
    expect_refusal([](TrainConfig& c) { c.plan.final_gossip = 2; },
                   "feature-norm: no bound is known");
    expect_refusal([](TrainConfig& c) { c.plan.correction = Correction::exact_diffusion; },
                   "feature-norm: no bound is known");
    expect_refusal(
        [](TrainConfig& c) {
            c.plan.adjacency = Adjacency::record_add_remove;
            c.plan.participation.poisson = true;
            c.plan.batch_size = 8;
        },
        "sampled in secret");
    expect_refusal([](TrainConfig& c) { c.precision = MessagePrecision::float32; },
                   "precision: float32");
    expect_refusal([](TrainConfig& c) { c.plan.mechanism = "zip-dl"; }, "this noise");
    TrainConfig whole = convex_config(folder);
    whole.plan.adjacency = Adjacency::agent;
    whole.plan.clip_norm = 2;  // no gradient is longer than the longest record
    EXPECT_TRUE(enforced(whole).has_value());
}

TEST(ConvexRun, ChecksWhatProcess0StatesOfIt) {
    const ConvexLosses own{2, 1, 0, 2};
    const auto problem = [&](const Json& ledger, const std::optional<ConvexLosses>& mine) {
        const JsonDocument document(ledger.dump());
        return message_of<DataError>([&] { require_convex_stated(document.root(), mine); });
    };
    Json ledger{{"convex", json_of(own)}};
    const JsonDocument right(ledger.dump());
    EXPECT_NO_THROW(require_convex_stated(right.root(), own));
    const JsonDocument nothing(std::string_view("{}"));
    EXPECT_NO_THROW(require_convex_stated(nothing.root(), std::nullopt));
    expect_contains(problem(ledger, std::nullopt), "which this agent does not enforce");
    expect_contains(problem(Json::object(), own), "does not state");
    expect_contains(problem(ledger, ConvexLosses{4, 4, 0, 0.5}), "and this agent enforces 4, 4");
    ledger["convex"]["largest_step"] = 2.1;
    expect_contains(problem(ledger, own), "up to 2");
    ledger["convex"]["largest_step"] = 1;
    expect_contains(problem(ledger, own), "steps up to 1");
}

TEST(ConvexRun, IsBelievedFromItsSealedLedgerAlone) {
    const TemporaryFolder folder;
    TrainConfig config = convex_config(folder);
    config.run_directory = folder.path("run");
    (void)test::train(config);
    const RecordedRun run = read_recorded_run(*config.run_directory, config);
    EXPECT_EQ(run.convex, (ConvexLosses{2, 1, 0, 2}));
    EXPECT_EQ(subject_config_of(run).inputs, Inputs::convex);
    SubjectConfig subject = subject_config_of(run);
    take_inputs(subject, run, Inputs::adaptive);
    EXPECT_EQ(subject.inputs, Inputs::adaptive);
    expect_contains(message_of<ConfigError>([&] { take_inputs(subject, run, Inputs::fixed); }),
                    "--inputs fixed: the run trains logistic");
    // Options that are not sealed do not decide.
    TrainConfig longer = config;
    longer.plan.steps.step_size = 3;
    expect_contains(
        message_of<DataError>([&] { (void)read_recorded_run(*config.run_directory, longer); }),
        "config.ini");
    TrainConfig without = config;
    without.task.feature_norm.reset();
    without.run_directory = folder.path("other");
    (void)test::train(without);
    const RecordedRun other = read_recorded_run(*without.run_directory, config);
    EXPECT_EQ(other.convex, std::nullopt);
    expect_contains(message_of<ConfigError>([&] { take_inputs(subject, other, Inputs::convex); }),
                    "train with --feature-norm R");
}

/// How much further apart a step of clipped logistic gradients moves two models, at most, of
/// models nearby and far away.
double largest_expansion(Dataset records, double clip, double step, double l2) {
    const auto count = static_cast<double>(records.records());
    const auto objective = make_logistic_objective(std::move(records), nullptr);
    std::vector<Eigen::Index> rows(static_cast<std::size_t>(objective->records()));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Eigen::Index>(i);
    SeededRandom random(7, "expansion");
    const Eigen::Index d = objective->dimension();
    const auto moved = [&](const Eigen::VectorXd& x) {
        Eigen::VectorXd sum(d);
        objective->clipped_gradient_sum(x, rows, clip, 0x1p-36 * count, sum);
        return Eigen::VectorXd(x - step * (sum / count + l2 * x));
    };
    double most = 0;
    for (int trial = 0; trial < 400; ++trial) {
        Eigen::VectorXd x(d), change(d);
        for (double& value : x) value = (trial % 3) * random.normal();
        for (double& value : change) value = 0.3 * random.normal();
        most = std::max(most, (moved(x + change) - moved(x)).norm() / change.norm());
    }
    return most;
}

Dataset one_long_record() {
    Dataset data;
    data.features.resize(1, 1);
    data.features.insert(0, 0) = 5;
    data.features.makeCompressed();
    data.labels = Eigen::VectorXd::Ones(1);
    return data;
}

TEST(ConvexRun, NoStepOfShortenedRecordsExpands) {
    for (const double norm : {1.2, 2.0, 4.0})
        for (const double l2 : {0.0, 0.1, 1.0})
            for (const double clip : {0.1, 1.0, 10.0}) {
                const double beta = curvature_of_logistic(norm), step = 2 / (beta + 2 * l2);
                const Dataset shortened = with_feature_norm(one_long_record(), norm);
                EXPECT_LE(largest_expansion(shortened, clip, step, l2),
                          (1 - step * l2) * (1 + 1e-6))
                    << norm << " " << l2 << " " << clip;
            }
    // Without the limit, or with steps twice as long, they do.
    EXPECT_GT(largest_expansion(one_long_record(), 10, 2, 0), 1.5);
    EXPECT_GT(largest_expansion(with_feature_norm(one_long_record(), 2), 10, 4, 0), 1.5);
}

/// Agent 0's model after trainings in which agent 2 of a path has these labels, by noise seed.
Eigen::MatrixXd models_of_neighbour(const TemporaryFolder& folder,
                                    int trials,
                                    int first_seed,
                                    const char* label,
                                    ConvexLosses* convex,
                                    double* mu) {
    TrainConfig config = test::quadratic_config(4, "ldp", 6);
    config.graph.topology.topology = Topology::path;
    config.task.task = "logistic";
    config.task.feature_norm = 1.5;
    config.plan.adjacency = Adjacency::agent;
    config.plan.batch_size = std::nullopt;
    config.plan.clip_norm = 1.5;
    config.plan.steps.step_size = 8 / (1.5 * 1.5);
    config.plan.noise_std = 0.01;  // little: few trainings show what it lets through
    for (int agent = 0; agent < 4; ++agent) {
        std::string text;
        for (int i = 0; i < 6; ++i)
            text += std::string(agent == 2   ? label
                                : i % 2 == 0 ? "+1"
                                             : "-1") +
                    " 1:" + (i % 2 == 0 ? "2\n" : "1\n");
        (void)folder.write("data" + std::to_string(agent), text);
    }
    config.task.data = folder.path("data%r");
    Eigen::MatrixXd models(2, trials);
    for (int trial = 0; trial < trials; ++trial) {
        config.noise_seed = static_cast<std::uint64_t>(first_seed + trial);
        config.run_directory = folder.path(label + std::to_string(first_seed + trial));
        (void)test::train(config);
        models.col(trial) = test::models_of(*config.run_directory, {0});
    }
    const RecordedRun run = read_recorded_run(*config.run_directory, config);
    *convex = run.convex.value();
    const auto subject = account_subject_of(run);
    ViewOptions options;
    options.inputs = Inputs::convex;
    const std::vector<int> target{2};
    const auto squared =
        view_losses(subject->process, subject->use, {View::Kind::neighbours, {0}}, target, options);
    *mu = guarantee_of_target(*subject, {0}, 2, squared[0].certified()).loss.mu().value();
    return models;
}

/// The target's labels are flipped; the observer looks at its model, made of what it received.
TEST(ConvexRun, AnAttackOnItsViewLearnsNoMoreThanTheFigure) {
    const TemporaryFolder folder;
    constexpr int trials = 30;
    ConvexLosses convex;
    double mu = 0;
    const Eigen::MatrixXd a = models_of_neighbour(folder, trials, 1000, "+1", &convex, &mu);
    const Eigen::MatrixXd b = models_of_neighbour(folder, trials, 5000, "-1", &convex, &mu);
    EXPECT_EQ(convex.feature_norm, 1.5);
    const Eigen::VectorXd apart = a.rowwise().mean() - b.rowwise().mean();
    const Eigen::MatrixXd da = a.colwise() - a.rowwise().mean(),
                          db = b.colwise() - b.rowwise().mean();
    const Eigen::MatrixXd covariance =
        (da * da.transpose() + db * db.transpose()) / (2 * (trials - 1));
    const double found = std::sqrt(apart.dot(covariance.ldlt().solve(apart)));
    const double error = std::sqrt(2.0 / trials) * (1 + found / 2);
    EXPECT_LE(found, mu + 3 * error);
    EXPECT_GT(found, 3 * error) << "the attack learns something";
    RecordProperty("found", std::to_string(found));
    RecordProperty("figure", std::to_string(mu));
}

}  // namespace
}  // namespace sotto
