#include "commands/sweep/sweep_progress.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace sotto::cli {
namespace {

TEST(SweepProgress, SaysHowMuchThereIsToTrain) {
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    SweepProgress progress(file);
    progress.on_start(2, 12, 3, true);
    std::rewind(file);
    std::string text(200, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    (void)std::fclose(file);
    EXPECT_EQ(text.substr(0, text.find('\n')),
              "sweep      2 cells, at least 12 trainings; 3 known from an earlier start");
}

TEST(SweepProgress, SaysNothingWithoutAReport) {
    SweepProgress progress(nullptr);
    progress.on_start(1, 1, 0, false);
    progress.on_progress(0, 1, false);
    progress.finish();
}

}  // namespace
}  // namespace sotto::cli
