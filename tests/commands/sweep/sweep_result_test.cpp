#include "commands/sweep/sweep_result.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "commands/sweep/sweep_fixtures.hpp"

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

}  // namespace
}  // namespace sotto
