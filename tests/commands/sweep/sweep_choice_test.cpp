#include "commands/sweep/sweep_choice.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "commands/sweep/sweep_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::row;

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
