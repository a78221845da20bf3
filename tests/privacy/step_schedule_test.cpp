#include "sotto/privacy/step_schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(StepSchedule, IsConstantOrFallsWithTheSquareRootOrTheRound) {
    const StepSchedule constant{StepSchedule::Kind::constant, 0.3, {}};
    const StepSchedule falling{StepSchedule::Kind::inverse_sqrt, 0.3, {}};
    const StepSchedule averaging{StepSchedule::Kind::inverse, 0.3, {}};
    for (const long t : {0L, 1L, 8L, 99L, 1000000L}) {
        EXPECT_DOUBLE_EQ(averaging.at(t) * (static_cast<double>(t) + 1), 0.3);
        EXPECT_EQ(constant.at(t), 0.3);
        EXPECT_DOUBLE_EQ(falling.at(t) * std::sqrt(static_cast<double>(t) + 1), 0.3);
    }
    EXPECT_EQ(falling.at(0), 0.3);
    EXPECT_EQ(constant.over(2), (std::vector<double>{0.3, 0.3}));
    EXPECT_EQ(falling.over(3), (std::vector<double>{falling.at(0), falling.at(1), falling.at(2)}));
}

TEST(StepSchedule, ChangesAtTheRoundsOfItsPieces) {
    const StepSchedule schedule =
        parse_step_schedule("step-schedule", "piecewise:100:0.1,200:0.02", 0.5);
    EXPECT_EQ(schedule.at(0), 0.5);
    EXPECT_EQ(schedule.at(99), 0.5);
    EXPECT_EQ(schedule.at(100), 0.5 * 0.1);
    EXPECT_EQ(schedule.at(199), 0.5 * 0.1);
    EXPECT_EQ(schedule.at(200), 0.5 * 0.02);
    EXPECT_EQ(schedule.at(100000), 0.5 * 0.02);
}

TEST(StepSchedule, IsReadBackFromItsName) {
    for (const char* text :
         {"constant", "inverse-sqrt", "inverse", "piecewise:7:0.5", "piecewise:1:2,9:0.25"}) {
        const StepSchedule schedule = parse_step_schedule("step-schedule", text, 0.1);
        EXPECT_EQ(name_of(schedule), text);
        EXPECT_EQ(schedule.step_size, 0.1);
    }
}

TEST(StepSchedule, RefusesWhatIsNotOne) {
    for (const char* text : {"inverse-sqr",
                             "invers",
                             "piecewise:",
                             "piecewise:10",
                             "piecewise:0:0.5",
                             "piecewise:10:0",
                             "piecewise:10:-1",
                             "piecewise:10:nan",
                             "piecewise:10:0.5,10:0.1",
                             "piecewise:10:0.5,5:0.1",
                             "piecewise:10:0.5,",
                             "piecewise:1.5:0.5"})
        EXPECT_THROW((void)parse_step_schedule("step-schedule", text, 0.1), ConfigError) << text;
}

}  // namespace
}  // namespace sotto
