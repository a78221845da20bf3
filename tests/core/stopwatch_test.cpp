#include "core/stopwatch.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

using std::chrono::milliseconds;

TEST(SecondsBetween, AreSignedSeconds) {
    const auto start = Clock::now();
    EXPECT_DOUBLE_EQ(seconds_between(start, start + milliseconds(1500)), 1.5);
    EXPECT_DOUBLE_EQ(seconds_between(start + milliseconds(250), start), -0.25);
    EXPECT_EQ(seconds_between(start, start), 0);
}

TEST(SecondsSince, GrowAndEndAtNow) {
    const auto start = Clock::now();
    const double first = seconds_since(start), second = seconds_since(start);
    EXPECT_GE(first, 0);
    EXPECT_GE(second, first);
    EXPECT_LE(second, seconds_between(start, Clock::now()));
}

}  // namespace
}  // namespace sotto
