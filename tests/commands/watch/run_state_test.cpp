#include "commands/watch/run_state.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::TemporaryFolder;

std::string ledger(const std::string& status, int completed) {
    return R"({"status": ")" + status + R"(", "rounds": {"planned": 9, "completed": )" +
           std::to_string(completed) + "}}";
}

std::string summary(bool interrupted, int rounds) {
    return std::string(R"({"interrupted": )") + (interrupted ? "true" : "false") +
           R"(, "rounds": )" + std::to_string(rounds) + "}";
}

class StateOfARun : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    [[nodiscard]] RunState state() const { return run_state(folder.path()); }
    void begin() const {
        (void)folder.write("config.ini", "agents = 3\n");
        (void)folder.write("ledger.json", ledger("running", 0));
    }
};

TEST_F(StateOfARun, HasBegunWhenItsConfigurationIsWritten) {
    EXPECT_EQ(run_state(folder.path("none")), RunState::not_begun);
    (void)folder.write("ledger.json", ledger("running", 0));
    EXPECT_EQ(state(), RunState::not_begun);
    (void)folder.write("config.ini", "agents = 3\n");
    EXPECT_EQ(state(), RunState::going_on);
}

TEST_F(StateOfARun, IsCompletedWhenItsSummaryIsWritten) {
    begin();
    (void)folder.write("ledger.json", ledger("completed", 9));
    EXPECT_EQ(state(), RunState::going_on) << "models are being written";
    (void)folder.write("summary.json", summary(true, 4));
    EXPECT_EQ(state(), RunState::going_on) << "that is of the start before";
    (void)folder.write("summary.json", summary(false, 9));
    EXPECT_EQ(state(), RunState::completed);
}

TEST_F(StateOfARun, IsStoppedWhereItIsInterruptedOrFails) {
    begin();
    (void)folder.write("ledger.json", ledger("interrupted", 6));
    (void)folder.write("summary.json", summary(true, 4));
    EXPECT_EQ(state(), RunState::going_on) << "that is of the start before";
    (void)folder.write("summary.json", summary(true, 6));
    EXPECT_EQ(state(), RunState::stopped);
    (void)folder.write("ledger.json", ledger("running", 6));
    EXPECT_EQ(state(), RunState::going_on) << "taken up again";
    (void)folder.write("failure.txt", "rank 1: lost\n");
    EXPECT_EQ(state(), RunState::stopped);
}

TEST_F(StateOfARun, GoesOnWhereFilesCannotBeRead) {
    begin();
    for (const char* text : {"", "{", "[]", "{\"status\": 3}"}) {
        (void)folder.write("ledger.json", text);
        EXPECT_EQ(state(), RunState::going_on) << text;
    }
    (void)folder.write("ledger.json", ledger("completed", 9));
    for (const char* text : {"", "{", "[]", "{}"}) {
        (void)folder.write("summary.json", text);
        EXPECT_EQ(state(), RunState::going_on) << text;
    }
    (void)folder.write("audit.json", "{}");
    EXPECT_EQ(state(), RunState::completed);
}

}  // namespace
}  // namespace sotto
