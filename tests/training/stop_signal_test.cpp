#include "training/stop_signal.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "sotto/core/stopwatch.hpp"

namespace sotto {
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

TEST(StopSignal, EndsAtOnceWhereNoStopIsNear) {
    EXPECT_EXIT(
        {
            watch_for_stop();
            end_when_stopped();  // nothing was asked
            if (stop_requested()) std::_Exit(1);
            std::raise(SIGTERM);
            std::_Exit(3);
        },
        testing::KilledBySignal(SIGTERM),
        "");
    EXPECT_EXIT(
        {
            watch_for_stop();
            std::raise(SIGINT);
            end_when_stopped();
            std::_Exit(3);
        },
        testing::KilledBySignal(SIGINT),
        "");
}

/// What ends the process where it is asked before or during work that lasts.
void ask_during_long_work(bool before) {
    watch_for_stop();
    if (before) std::raise(SIGTERM);
    end_soon_when_stopped();
    if (!before) std::raise(SIGTERM);
    for (int i = 0; i < 1000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::_Exit(3);
}

TEST(StopSignal, EndsWorkThatLastsAfterALittlePatience) {
    for (const bool before : {true, false}) {
        const auto start = Clock::now();
        EXPECT_EXIT(ask_during_long_work(before), testing::KilledBySignal(SIGTERM), "");
        EXPECT_GT(seconds_since(start), 0.4);
        EXPECT_LT(seconds_since(start), 10);
    }
}

TEST(StopSignal, OfWorkThatEndsSoonIsAnsweredAfterIt) {
    EXPECT_EXIT(
        {
            watch_for_stop();
            end_soon_when_stopped();
            std::raise(SIGTERM);
            watch_on();
            std::this_thread::sleep_for(std::chrono::seconds(1));
            std::_Exit(stop_requested() ? 0 : 3);
        },
        testing::ExitedWithCode(0),
        "");
}

TEST(StopSignal, ThatTheProcessWasStartedToIgnoreAsksForNothing) {
    EXPECT_EXIT(
        {
            std::signal(SIGINT, SIG_IGN);
            watch_for_stop();
            std::raise(SIGINT);
            std::_Exit(stop_requested() ? 3 : 0);
        },
        testing::ExitedWithCode(0),
        "");
}

TEST(StopSignal, LeavesAProcessThatDoesNotWatchAlone) { EXPECT_FALSE(stop_requested()); }

}  // namespace
}  // namespace sotto
