#include "commands/sweep/sweep_outcome.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "commands/sweep/sweep_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "training/training_summary.hpp"

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

}  // namespace
}  // namespace sotto
