#include "commands/cli/progress.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sotto::cli {
namespace {

TEST(DurationText, ChoosesItsUnit) {
    EXPECT_EQ(duration_text(12.34), "12.3 s");
    EXPECT_EQ(duration_text(185), "3:05 min");
    EXPECT_EQ(duration_text(7800), "2:10 h");
    EXPECT_EQ(duration_text(std::numeric_limits<double>::infinity()), "?");
    EXPECT_EQ(duration_text(std::nan("")), "?");
}

TEST(LossText, IsShortAlsoWhereATrainingGoesWrong) {
    EXPECT_EQ(loss_text(0.5), "0.50000");
    EXPECT_EQ(loss_text(1e300), "1e+300");
    EXPECT_EQ(loss_text(std::nan("")), "unknown");
}

TEST(ProgressOfATraining, IsSilentWithoutAReport) {
    testing::internal::CaptureStderr();
    Progress progress(nullptr);
    progress.on_round(1, 2);
    progress.finish();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace sotto::cli
