#include "commands/sweep/sweep_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "commands/sweep/sweep_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "training/train_report.hpp"

namespace sotto {
namespace {

using test::TemporaryFolder;

TEST(SweepOutcome, SurvivesItsWayThroughAFile) {
    const TemporaryFolder folder;
    for (const auto status : {SweepOutcome::Status::done,
                              SweepOutcome::Status::diverged,
                              SweepOutcome::Status::failed}) {
        SweepOutcome outcome;
        outcome.status = status;
        outcome.seconds = 1.5;
        outcome.metrics = {{"test_loss", 0.1}, {"mu", std::numeric_limits<double>::quiet_NaN()}};
        if (status != SweepOutcome::Status::done) {
            outcome.error = "a \"reason\", \xff";
            outcome.exit_code = 4;
        }
        const SweepOutcome back =
            outcome_from_json(folder.write("outcome.json", to_json(outcome, "rounds = 5\n")));
        EXPECT_EQ(back.status, status);
        EXPECT_EQ(back.seconds, 1.5);
        EXPECT_EQ(back.exit_code, outcome.exit_code);
        EXPECT_EQ(back.error.empty(), outcome.error.empty());
        EXPECT_EQ(back.metrics.at("test_loss"), 0.1);
        EXPECT_TRUE(std::isnan(back.metrics.at("mu")));
    }
}

TEST(SweepOutcome, OfADamagedFileSaysWhatToDo) {
    const TemporaryFolder folder;
    for (const std::string& text : {std::string("{"), std::string("{\"status\": \"done\"}")}) {
        const std::string file = folder.write("outcome.json", text);
        const std::string message =
            test::message_of<DataError>([&] { (void)outcome_from_json(file); });
        test::expect_contains(message, file);
        test::expect_contains(message, "remove it");
    }
}

TEST(SweepOutcome, KeepsTheMetricsOfASummary) {
    const test::TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(4, "ldp", 2);
    config.run_directory = folder.path("run");
    const auto network = make_memory_network(4, 1);
    TrainingListener observer;
    const TrainResult trained = run_training(config, *network, observer, [] { return false; });
    const test::Json summary = test::Json::parse(summary_json(trained, config.plan));
    for (const std::string& metric : sweep_metrics())
        EXPECT_TRUE(summary.contains(metric)) << metric;
}

namespace fs = std::filesystem;

SweepTraining training(const std::string& key) {
    SweepTraining result;
    result.key = key;
    return result;
}

SweepOutcome outcome(SweepOutcome::Status status) {
    SweepOutcome result;
    result.status = status;
    return result;
}

TEST(SweepFolder, RemembersHowTrainingsEnded) {
    const TemporaryFolder temporary;
    const auto network = make_memory_network(1, 1);
    const SweepTraining done = training("a"), failed = training("b"), diverged = training("c");
    const std::vector<SweepTraining> all{done, failed, diverged};
    {
        const SweepFolder folder(temporary.path("out"), *network);
        EXPECT_EQ(folder.missing(all), 3);
        EXPECT_FALSE(folder.outcome(done));
        folder.keep(done, outcome(SweepOutcome::Status::done));
        folder.keep(failed, outcome(SweepOutcome::Status::failed));
        folder.keep(diverged, outcome(SweepOutcome::Status::diverged));
        EXPECT_EQ(folder.missing(all), 0);
    }
    const SweepFolder again(temporary.path("out"), *network);
    ASSERT_TRUE(again.outcome(diverged));
    EXPECT_EQ(again.outcome(diverged)->status, SweepOutcome::Status::diverged);
    for (const SweepTraining& each : all) again.forget_failure(each);
    EXPECT_EQ(again.missing(all), 1);
    EXPECT_FALSE(again.outcome(failed));
}

TEST(SweepFolder, GivesATrainingToOneThatAsks) {
    const TemporaryFolder temporary;
    const auto network = make_memory_network(1, 1);
    {
        const SweepFolder folder(temporary.path("out"), *network);
        EXPECT_FALSE(folder.claimed(training("a")));
        EXPECT_TRUE(folder.claim(training("a")));
        EXPECT_TRUE(folder.claimed(training("a")));
        EXPECT_FALSE(folder.claim(training("a")));
        folder.keep(training("b"), outcome(SweepOutcome::Status::done));
        EXPECT_FALSE(folder.claim(training("b"))) << "it is known";
        folder.remove_claims();
        EXPECT_FALSE(fs::exists(temporary.path("out/claims")));
    }
    // Who had it then may be gone.
    const SweepFolder again(temporary.path("out"), *network);
    EXPECT_FALSE(again.claimed(training("a")));
    EXPECT_TRUE(again.claim(training("a")));
}

TEST(SweepFolder, GoesOnUntilAProcessStops) {
    const TemporaryFolder temporary;
    const auto network = make_memory_network(1, 1);
    {
        const SweepFolder folder(temporary.path("out"), *network);
        EXPECT_TRUE(folder.going_on());
        folder.stop();
        EXPECT_FALSE(folder.going_on());
        folder.stop();
    }
    const SweepFolder again(temporary.path("out"), *network);
    EXPECT_TRUE(again.going_on());
}

TEST(SweepFolder, MustBeUsable) {
    const TemporaryFolder temporary;
    const auto network = make_memory_network(1, 1);
    const std::string file = temporary.write("file", "");
    test::expect_contains(
        test::message_of<ConfigError>([&] { const SweepFolder folder(file, *network); }),
        "cannot be used");
}

}  // namespace
}  // namespace sotto
