#include "net/process_end.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace sotto {
namespace {

TEST(FailureStatus, IsNeverZero) {
    EXPECT_EQ(failure_status(ExitCode::ok), 1);
    EXPECT_EQ(failure_status(ExitCode::other), 1);
    EXPECT_EQ(failure_status(ExitCode::audit), 6);
}

TEST(FlushOutputDeathTest, SavesWhatAnAbruptEndWouldLose) {
    const auto end = [](bool flushed) {
        std::setvbuf(stderr, nullptr, _IOFBF, 4096);
        std::fputs("not yet written", stderr);
        if (flushed) flush_output();
        std::_Exit(3);
    };
    EXPECT_EXIT(end(true), testing::ExitedWithCode(3), "not yet written");
    EXPECT_EXIT(end(false), testing::ExitedWithCode(3), "^$");
}

}  // namespace
}  // namespace sotto
