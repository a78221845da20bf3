#include "commands/sweep/private_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>

#include "account/composed_runs.hpp"
#include "commands/sweep/sweep_fixtures.hpp"
#include "commands/sweep/sweep_job.hpp"
#include "options/train_options.hpp"
#include "sotto/core/error.hpp"
#include "store/recorded_ledger.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

TrainConfig read_training(const std::string& ini) { return train_config_of({ini, "sweep"}); }

/// Records whose class is mostly the sign of their first feature; thirty more say nothing, so that
/// a model of noise alone is right half of the time.
std::string separable_records(int records) {
    std::mt19937 random(1);
    std::string text;
    for (int i = 0; i < records; ++i) {
        const bool positive = random() % 2 == 0, wrong = random() % 20 == 0;
        text += fmt::format("{} 1:{}", positive ? "+1" : "-1", positive != wrong ? 1 : -1);
        for (int feature = 2; feature <= 31; ++feature)
            text += fmt::format(" {}:{}", feature, random() % 2 == 0 ? 1 : -1);
        text += "\n";
    }
    return text;
}

/// A choice between a step that learns and one that does not.
SweepConfig private_sweep(const TemporaryFolder& folder) {
    SweepConfig config;
    config.directory = folder.path("out");
    write_file_atomically(folder.path("data.svm"), separable_records(1200));
    config.variants = {{"all",
                        {{"data", {folder.path("data.svm")}},
                         {"task", {"logistic"}},
                         {"agents", {"4"}},
                         {"rounds", {"30"}},
                         {"mechanism", {"pairs"}},
                         {"adjacency", {"record-zero-out"}},
                         {"epsilon", {"6"}},
                         {"clip-norm", {"1"}},
                         {"batch-size", {"all"}},
                         {"tune", {"off"}},
                         {"step-size", {"1e-9", "2"}}}}};
    config.private_choice = 6;
    return config;
}

SweepSetting& setting_of(SweepConfig& config, const std::string& option) {
    return *std::ranges::find(config.variants[0].settings, option, &SweepSetting::option);
}

SweepResult choose(
    const SweepConfig& config, const std::function<bool()>& stop = [] { return false; }) {
    const auto network = make_memory_network(1, 1);
    SweepListener silent;
    return run_sweep(config, read_training, *network, silent, stop);
}

TEST(PrivateSweep, ReleasesOneTrainingAndRemovesTheOthers) {
    const TemporaryFolder folder;
    const SweepConfig config = private_sweep(folder);
    const SweepResult result = choose(config);
    ASSERT_TRUE(result.chosen);
    const fs::path released = config.directory / "released";
    const test::Json choice = test::read_json(released / "choice.json");
    // One training of epsilon 6; the choice costs less than three times as much.
    const PrivacyLoss one = PrivacyLoss::gaussian(gdp_mu(6, 1e-5));
    const double expected = choice_cost({&one, 1}, {6, 1}, 1e-5).epsilon.upper;
    EXPECT_NEAR(choice["epsilon"].get<double>(), expected, 1e-3 * expected);
    EXPECT_NEAR(choice["epsilon_one"].get<double>(), 6, 1e-3);
    EXPECT_EQ(choice["protects"], "one record");
    EXPECT_EQ(result.chosen->options.back().first, "step-size");
    EXPECT_EQ(test::models_of(config.directory / "released", {0, 1, 2, 3}).cols(), 4);
    EXPECT_TRUE(fs::exists(released / "agents" / "3" / "model.json"));
    // Nothing of the others is left but what peers have seen: their ledgers.
    EXPECT_TRUE(fs::is_empty(config.directory / "runs"));
    EXPECT_TRUE(fs::is_empty(config.directory / "trainings"));
    for (const char* gone : {"draws.json", "runs.csv", "results.csv", "claims"})
        EXPECT_FALSE(fs::exists(config.directory / gone)) << gone;
    EXPECT_EQ(std::ssize(runs_in(config.directory)), result.trainings);
    const std::string again = test::message_of<ConfigError>([&] { (void)choose(config); });
    test::expect_contains(again, "the choice has been made");
    test::expect_contains(test::message_of<DataError>([&] { (void)runs_in(released); }),
                          "a private choice");
}

TEST(PrivateSweep, ChoosesTheBestScoreOfFreshTrainings) {
    const TemporaryFolder folder;
    SweepConfig config = private_sweep(folder);
    config.private_choice = 12;
    setting_of(config, "step-size").values = {"1", "2"};
    setting_of(config, "epsilon").values = {"2"};
    const SweepResult result = choose(config);
    ASSERT_TRUE(result.chosen);
    std::vector<double> scores;
    for (const SweepRow& row : result.results.front().validation)
        scores.push_back(row.outcome->metrics.at(noisy_accuracy_name));
    const auto best = std::ranges::max_element(scores);
    EXPECT_EQ(result.chosen->score, *best);
    EXPECT_EQ(result.chosen->options,
              result.cells.front().candidates.at(static_cast<std::size_t>(best - scores.begin())));
    EXPECT_GT(*best, 0.8);
    // Trainings of one configuration have noise of their own.
    if (scores.size() > 4) {
        EXPECT_GT((std::set<double>(scores.begin(), scores.end())).size(), 1U);
    }
}

TEST(PrivateSweep, GoesOnWithTheSameDrawsAfterItWasStopped) {
    const TemporaryFolder folder;
    const SweepConfig config = private_sweep(folder);
    const SweepResult stopped = choose(config, [] { return true; });
    EXPECT_TRUE(stopped.interrupted);
    EXPECT_FALSE(stopped.chosen);
    EXPECT_FALSE(fs::exists(config.directory / "released"));
    const SweepResult finished = choose(config);
    ASSERT_TRUE(finished.chosen);
    EXPECT_EQ(finished.cells.front().candidates, stopped.cells.front().candidates);
}

TEST(PrivateSweep, RemovesWhatAProcessLeftThatEndedRightAfterTheChoice) {
    const TemporaryFolder folder;
    const SweepConfig config = private_sweep(folder);
    const fs::path runs = config.directory / "runs", outcomes = config.directory / "trainings";
    (void)choose(config, [&] { return !fs::is_empty(outcomes); });
    ASSERT_FALSE(fs::is_empty(runs));
    fs::create_directory(config.directory / "released");
    write_file_atomically(config.directory / "released" / "choice.json", "{}");
    test::expect_contains(test::message_of<ConfigError>([&] { (void)choose(config); }),
                          "the choice has been made");
    EXPECT_TRUE(fs::is_empty(runs));
    EXPECT_TRUE(fs::is_empty(outcomes));
    EXPECT_FALSE(fs::exists(config.directory / "draws.json"));
    EXPECT_EQ(std::ssize(runs_in(config.directory)), 1) << "what peers have seen stays counted";
}

TEST(PrivateSweep, OtherTrainingsInItsFolderAreRefused) {
    const TemporaryFolder folder;
    SweepConfig config = private_sweep(folder);
    (void)choose(config, [] { return true; });
    config.private_choice = 60;  // would be a new draw
    test::expect_contains(test::message_of<ConfigError>([&] { (void)choose(config); }),
                          "a choice among other trainings");
}

TEST(PrivateSweep, PublicTestDataNeedNoNoise) {
    const TemporaryFolder folder;
    SweepConfig config = private_sweep(folder);
    config.choice_data = ChoiceData::test_data;
    config.choose_by = "test_loss_mean_model";
    test::expect_contains(test::message_of<ConfigError>([&] { (void)choose(config); }),
                          "needs test-data");
    config.variants[0].settings.push_back({"test-data", {folder.path("data.svm")}});
    const SweepResult result = choose(config);
    ASSERT_TRUE(result.chosen);
    EXPECT_EQ(result.chosen->plan.score_deviation, 0);
    EXPECT_GT(result.chosen->score, 0);
}

/// The budget is then of persons with records at two agents, and so is the price.
TEST(PrivateSweep, CountsPersonsAtSeveralAgents) {
    const TemporaryFolder folder;
    SweepConfig config = private_sweep(folder);
    config.variants[0].settings.push_back({"unit-agents", {"2"}});
    test::expect_contains(test::message_of<ConfigError>([&] { (void)choose(config); }),
                          "--unit-agents");
    config.variants[0].settings.push_back({"test-data", {folder.path("data.svm")}});
    config.choice_data = ChoiceData::test_data;
    const SweepResult result = choose(config);
    ASSERT_TRUE(result.chosen);
    EXPECT_NEAR(result.chosen->plan.cost.one, 6, 1e-3);
    test::expect_contains(result.chosen->plan.unit, "2 agents");
}

TEST(PrivateSweep, RefusesWhatNoCostCovers) {
    const TemporaryFolder folder;
    const auto refusal = [&](const std::function<void(SweepConfig&)>& change) {
        SweepConfig config = private_sweep(folder);
        change(config);
        const std::string message = test::message_of<ConfigError>([&] { (void)choose(config); });
        EXPECT_FALSE(fs::exists(config.directory));
        return message;
    };
    test::expect_contains(refusal([](auto& c) {
                              c.variants[0].settings.push_back({"noise-seed", {"1"}});
                          }),
                          "noise-seed: ");
    test::expect_contains(refusal([](auto& c) { setting_of(c, "mechanism").values = {"none"}; }),
                          "mechanism: ");
    test::expect_contains(refusal([](auto& c) { setting_of(c, "mechanism").values = {"zip-dl"}; }),
                          "mechanism: ");
    test::expect_contains(refusal([](auto& c) { setting_of(c, "adjacency").values = {"agent"}; }),
                          "public-test-data with adjacency agent");
    test::expect_contains(refusal([](auto& c) {
                              setting_of(c, "adjacency").values = {"record", "record-zero-out"};
                          }),
                          "differ in delta, adjacency");
    test::expect_contains(refusal([](auto& c) {
                              c.variants[0].settings.push_back({"eval-records", {"50"}});
                          }),
                          "eval-records: ");
    test::expect_contains(refusal([](auto& c) { c.seeds = {"1", "2"}; }), "seed: ");
    test::expect_contains(refusal([](auto& c) { c.plot = "epsilon"; }), "plot: ");
    test::expect_contains(refusal([](auto& c) { c.choice_shape = -1; }), "choice-shape: ");
    std::string values = "x,y\n";
    for (int i = 0; i < 400; ++i) values += fmt::format("{},{}\n", i % 17, i % 17 / 17.0);
    write_file_atomically(folder.path("values.csv"), values);
    test::expect_contains(refusal([&](auto& c) {
                              setting_of(c, "data").values = {folder.path("values.csv")};
                              setting_of(c, "task").values = {"mlp"};
                              c.variants[0].settings.push_back({"label", {"y"}});
                              c.variants[0].settings.push_back({"bounds", {"x=0:20,y=0:1"}});
                          }),
                          "this task has no classes");
}

/// What is injected is what is accounted: the noise of scores.
TEST(PrivateSweep, ScoresHaveTheirNoise) {
    constexpr int draws = 4000;
    constexpr double records = 1000, right = 700, deviation = 5;
    double sum = 0, squares = 0;
    for (int k = 0; k < draws; ++k) {
        SweepOutcome outcome;
        outcome.metrics = {{"test_accuracy_mean_model", right / records},
                           {"test_loss", 0.5},
                           {test_records_name, records}};
        hide_held_out(outcome, deviation);
        ASSERT_EQ(outcome.metrics.size(), 1U);  // no exact figure stays
        const double error = outcome.metrics.at(noisy_accuracy_name) * records - right;
        EXPECT_NEAR(error, std::round(error), 1e-9);
        sum += error;
        squares += error * error;
    }
    EXPECT_NEAR(sum / draws, 0, 6 * deviation / std::sqrt(draws));
    EXPECT_NEAR(std::sqrt(squares / draws), deviation, 0.4);
}

}  // namespace
}  // namespace sotto
