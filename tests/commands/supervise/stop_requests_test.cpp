#include "commands/supervise/stop_requests.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "sotto/core/stopwatch.hpp"

namespace sotto::cli {
namespace {

TEST(StopRequests, AreCountedAndTheFirstIsKept) {
    forget_stop_requests();
    count_stop_requests();
    EXPECT_EQ(stop_requests(), 0);
    std::raise(SIGTERM);
    std::raise(SIGINT);
    EXPECT_EQ(stop_requests(), 2);
    EXPECT_EQ(first_stop_signal(), SIGTERM);
    const auto start = Clock::now();
    pause_unless_stopped(60);
    EXPECT_LT(seconds_since(start), 30);
    forget_stop_requests();
    EXPECT_EQ(stop_requests(), 0);
    EXPECT_EQ(first_stop_signal(), 0);
    pause_unless_stopped(0.01);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) std::signal(number, SIG_DFL);
}

TEST(StopRequests, OfAHangUpUnderNohupAreNone) {
    EXPECT_EXIT(
        {
            std::signal(SIGHUP, SIG_IGN);
            count_stop_requests();
            std::raise(SIGHUP);
            std::_Exit(stop_requests());
        },
        testing::ExitedWithCode(0),
        "");
}

}  // namespace
}  // namespace sotto::cli
