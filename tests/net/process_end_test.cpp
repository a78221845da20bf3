#include "net/process_end.hpp"

#include <gtest/gtest.h>

#include <array>
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
        static std::array<char, 4096> buffer;  // one of its own: glibc keeps one that was in use
        std::setvbuf(stderr, buffer.data(), _IOFBF, buffer.size());
        std::fputs("not yet written", stderr);
        if (flushed) flush_output();
        std::_Exit(3);
    };
    EXPECT_EXIT(end(true), testing::ExitedWithCode(3), "not yet written");
    EXPECT_EXIT(end(false), testing::ExitedWithCode(3), "^$");
}

}  // namespace
}  // namespace sotto
