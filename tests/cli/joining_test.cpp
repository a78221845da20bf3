// Spares that join while a run goes on.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "changing_members.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

class Joining : public ChangingMembers {
  protected:
    [[nodiscard]] Arguments training(const Arguments& more = {}) const {
        Arguments arguments =
            ChangingMembers::training({"--spares", "1,3", "--join-file", "join%r"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
};

TEST_P(Joining, GoesOnWithoutARestart) {
    const LongerGrace grace;
    Process process = start(training());
    ASSERT_TRUE(happens([&] { return has_begun(); }));
    (void)directory_.write("join3", "");
    ASSERT_TRUE(happens([&] { return phases() == 2; })) << "agent 3 did not join";
    ASSERT_TRUE(goes_on());
    process.signal_group(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_NE(outcome.exit_code, 0) << outcome.text();
    EXPECT_TRUE(all_ended(directory_.path())) << "a spare is left";
    EXPECT_EQ(ledger().at("status"), "interrupted") << outcome.text();
    EXPECT_EQ(gone(0), (Json{1, 3}));
    EXPECT_EQ(gone(1), (Json{1}));
    EXPECT_TRUE(std::filesystem::exists(directory_ / "run/agents/3/model.npy"));
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run/agents/1/model.npy"));

    // Taken up, agent 1 waits on and can join, too.
    Process again = start({"train", "--resume", "run", "--spares", "1"});
    (void)directory_.write("join1", "");
    ASSERT_TRUE(happens([&] { return phases() >= 4; })) << "agent 1 did not join";
    ASSERT_TRUE(goes_on());
    again.signal_group(SIGINT);
    const Outcome last = again.wait();
    EXPECT_NE(last.exit_code, 0) << last.text();
    EXPECT_EQ(gone(phases() - 1), Json::array());
    EXPECT_LE(ledger().at("headline").at("epsilon").get<double>(), 10 * (1 + 1e-9));
}

TEST_P(Joining, EndsWithTheRunWhereNobodyIsAskedTo) {
    Arguments few = training();
    *(std::ranges::find(few, "--rounds") + 1) = "50";
    const Outcome outcome = start(few).wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(ledger().at("agents")[1].at("waits"), true);
    EXPECT_EQ(ledger().at("agents")[1].at("epsilon"), 0);
}

TEST_P(Joining, EndsWithTheRunThatFails) {
    const Outcome outcome = start(training({"--mixing", "mixing.txt"})).wait();
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_FALSE(outcome.timed_out) << outcome.text();
    EXPECT_TRUE(all_ended(directory_.path()));
}

TEST_P(Joining, OfARunThatIsTakenUpIsByTheSparesOwnWord) {
    if (GetParam() == one_process) GTEST_SKIP() << "there all is one's own word";
    const LongerGrace grace;
    Process process = start(training());
    ASSERT_TRUE(happens([&] { return has_begun(); }));
    process.signal_group(SIGINT);
    (void)process.wait();
    const Outcome outcome = start({"train", "--resume", "run"}).wait();
    EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
    EXPECT_NE(outcome.err.find("an agent that waits must be given --spares itself"),
              std::string::npos)
        << outcome.text();
}

TEST_P(Joining, IsOfAgentsThatExist) {
    for (const char* spares : {"0", "4"}) {
        Arguments wrong = training();
        *(std::ranges::find(wrong, "--spares") + 1) = spares;
        const Outcome outcome = start(wrong).wait();
        EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
        EXPECT_NE(outcome.err.find(fmt::format("--spares: agent {}", spares)), std::string::npos)
            << outcome.text();
    }
}
INSTANTIATE_TEST_SUITE_P(AloneAndOverMpi, Joining, ::testing::Values(one_process, 4));

}  // namespace
}  // namespace sotto::test
