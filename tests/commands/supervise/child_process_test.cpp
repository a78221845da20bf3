#include "commands/supervise/child_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace sotto::cli {
namespace {

TEST(ChildProcess, IgnoresWhatItsParentWasStartedToIgnore) {
    EXPECT_EXIT(
        {
            std::signal(SIGHUP, SIG_IGN);
            std::_Exit(ChildProcess({"sh", "-c", "kill -HUP $$; exit 7"}, {}).wait());
        },
        testing::ExitedWithCode(7),
        "");
}

TEST(ChildProcess, SaysHowItEnded) {
    EXPECT_EQ(ChildProcess({"sh", "-c", "exit 7"}, {}).wait(), 7);
    EXPECT_EQ(ChildProcess({"sh", "-c", "kill -TERM $$"}, {}).wait(), 128 + SIGTERM);
    EXPECT_EQ(ChildProcess({"/nowhere/program"}, {}).wait(), 127);
}

TEST(ChildProcess, HasItsEnvironmentAndNoInput) {
    const ChildSetting setting{.environment = {{"SOTTO_TEST_WORD", "said"}}};
    EXPECT_EQ(
        ChildProcess({"sh", "-c", "test $SOTTO_TEST_WORD = said && ! read line"}, setting).wait(),
        0);
}

TEST(ChildProcess, IsFoundAndEnded) {
    ChildProcess child({"sleep", "60"}, {.own_session = true});
    const auto children = children_of(::getpid());
    EXPECT_NE(std::ranges::find(children, child.pid()), children.end());
    EXPECT_FALSE(child.ended());
    child.signal(SIGKILL);
    EXPECT_EQ(child.wait(), 128 + SIGKILL);
    EXPECT_EQ(child.ended(), 128 + SIGKILL);
    child.signal(SIGKILL);  // of nobody
}

}  // namespace
}  // namespace sotto::cli
