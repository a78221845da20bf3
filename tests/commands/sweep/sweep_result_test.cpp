#include "commands/sweep/sweep_result.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "commands/sweep/sweep_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::row;

TEST(SweepMeans, HaveStudentsIntervals) {
    CellResult cell;
    cell.test = {row(1), row(2), row(4)};
    const auto mean = mean_of(cell, "test_loss");
    ASSERT_TRUE(mean);
    EXPECT_NEAR(mean->mean, 7.0 / 3, 1e-15);
    // With two degrees of freedom t = (2p - 1) sqrt(2 / (4 p (1 - p))); standard deviation
    // sqrt(7/3).
    const double t = 0.95 * std::sqrt(2 / 0.0975);
    EXPECT_NEAR(mean->half_width, t * std::sqrt(7.0 / 9), 1e-12);
}

TEST(SweepMeans, AreMissingWhereATrainingIs) {
    CellResult cell;
    cell.test = {row(1), row(2)};
    cell.test[1].outcome->status = SweepOutcome::Status::diverged;
    EXPECT_FALSE(mean_of(cell, "test_loss"));
    cell.test[1].outcome.reset();
    EXPECT_FALSE(mean_of(cell, "test_loss"));
    cell.test = {row(std::numeric_limits<double>::quiet_NaN())};
    EXPECT_FALSE(mean_of(cell, "test_loss"));
    cell.test = {row(3)};
    ASSERT_TRUE(mean_of(cell, "test_loss"));
    EXPECT_TRUE(std::isnan(mean_of(cell, "test_loss")->half_width));
}

TEST(SweepOutcomes, AreCountedOverChoiceAndMeasurement) {
    SweepResult result;
    result.results.resize(2);
    result.results[0].validation = {row(1), row(2)};
    result.results[0].test = {row(1), row(1)};
    result.results[0].validation[1].outcome->status = SweepOutcome::Status::diverged;
    result.results[0].test[1].outcome.reset();
    result.results[1].test = {row(1), row(1)};
    for (const int which : {0, 1}) {
        SweepOutcome& outcome = *result.results[1].test[static_cast<std::size_t>(which)].outcome;
        outcome.status = SweepOutcome::Status::failed;
        outcome.error = which == 0 ? "the first" : "the second";
    }
    count_outcomes(result);
    EXPECT_EQ(result.done, 2);
    EXPECT_EQ(result.diverged, 1);
    EXPECT_EQ(result.failed, 2);
    ASSERT_TRUE(result.first_failure);
    EXPECT_EQ(result.first_failure->error, "the first");
    EXPECT_EQ(count_of(result.results[0], "done"), 1);
    EXPECT_EQ(count_of(result.results[0], "missing"), 1);
    EXPECT_EQ(count_of(result.results[0], "diverged"), 0) << "that one chose";
    EXPECT_EQ(status_of(result.results[1].test[0]), "failed");
}

TEST(SweepOutcomes, AFurtherValueThatIsRefusedIsNoFailureOfTheSweep) {
    const auto failures_with = [](bool further, int exit_code) {
        SweepResult result;
        result.results.resize(1);
        result.results[0].validation = {row(1)};
        result.results[0].validation[0].training.further = further;
        result.results[0].validation[0].outcome->status = SweepOutcome::Status::failed;
        result.results[0].validation[0].outcome->exit_code = exit_code;
        count_outcomes(result);
        EXPECT_EQ(result.failed, 1);
        return result.first_failure.has_value();
    };
    EXPECT_FALSE(failures_with(true, 2));
    EXPECT_TRUE(failures_with(false, 2)) << "a value that was given";
    EXPECT_TRUE(failures_with(true, 9)) << "a full disk";
}

TEST(SweepChoice, IsTheBestMeanOverTheSeeds) {
    // Means 3, 2 and 2.5.
    const std::vector<SweepRow> rows{
        row(1, 0), row(5, 0), row(1, 1), row(3, 1), row(2, 2), row(3, 2)};
    EXPECT_EQ(best_candidate(rows, 3, "test_loss"), 1U);
    EXPECT_EQ(best_candidate(rows, 3, "test_accuracy_mean_model"), 0U);
}

TEST(SweepChoice, TakesTheFirstOfEqualOnes) {
    EXPECT_EQ(best_candidate(std::vector{row(2, 0), row(2, 1)}, 2, "test_loss"), 0U);
}

TEST(SweepChoice, LeavesOutWhatDidNotEndWell) {
    std::vector<SweepRow> rows{row(1, 0), row(1, 0), row(7, 1), row(9, 1)};
    rows[1].outcome->status = SweepOutcome::Status::diverged;
    EXPECT_EQ(best_candidate(rows, 2, "test_loss"), 1U);
    EXPECT_FALSE(has_ended_well(rows, 0));
    EXPECT_TRUE(is_judged(rows, 0)) << "diverging says something of its value";
    EXPECT_TRUE(has_ended_well(rows, 1));
    rows[3].outcome.reset();
    EXPECT_EQ(best_candidate(rows, 2, "test_loss"), 0U) << "nothing is better than nothing";
    EXPECT_FALSE(is_judged(rows, 1));
    rows[1].outcome->status = SweepOutcome::Status::failed;
    EXPECT_FALSE(is_judged(rows, 0));
}

TEST(SweepChoice, NeedsTheMetricOnlyWhereThereIsAChoice) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(best_candidate(std::vector{row(none, 0), row(1, 1)}, 2, "test_accuracy"), 1U)
        << "one that has it is better";
    const std::vector<SweepRow> rows{row(none, 0), row(none, 1)};
    EXPECT_EQ(best_candidate(rows, 1, "test_accuracy"), 0U);
    EXPECT_EQ(best_candidate({}, 0, "test_accuracy"), 0U);
    test::expect_contains(
        test::message_of<ConfigError>([&] { (void)best_candidate(rows, 2, "test_accuracy"); }),
        "choose-by: the trainings have no test_accuracy");
}

}  // namespace
}  // namespace sotto
