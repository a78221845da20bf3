#include "commands/cli/stop_signal.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace sotto::cli {
namespace {

TEST(StopSignal, AsksForAStopOnceAndThenEndsTheProcess) {
    EXPECT_EXIT(
        {
            watch_for_stop();
            if (stop_requested()) std::_Exit(1);
            std::raise(SIGTERM);
            if (!stop_requested()) std::_Exit(2);
            std::raise(SIGTERM);
            std::_Exit(3);
        },
        testing::KilledBySignal(SIGTERM),
        "");
}

TEST(StopSignal, ThatALauncherRepeatsAsksAndEndsNothing) {
    EXPECT_EXIT(
        {
            watch_for_stop();
            std::raise(SIGUSR1);
            if (!stop_requested()) std::_Exit(1);
            std::raise(SIGUSR1);
            std::_Exit(3);
        },
        testing::ExitedWithCode(3),
        "");
}

TEST(StopSignal, LeavesAProcessThatDoesNotWatchAlone) { EXPECT_FALSE(stop_requested()); }

}  // namespace
}  // namespace sotto::cli
