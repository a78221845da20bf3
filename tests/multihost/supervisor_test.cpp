// sotto supervise, and deploy/mpirun --max-restarts, which calls it: a run that loses a rank or a
// host is resumed.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "hosts.hpp"
#include "interrupted_run.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A training into which something happens once it has a checkpoint on the way.
class SupervisedRun : public testing::Test {
  protected:
    [[nodiscard]] Arguments training(const std::string& run, const Arguments& more) const {
        Arguments arguments{"train",
                            "--data",
                            data_,
                            "--rounds",
                            std::to_string(rounds),
                            "--batch-size",
                            "8",
                            "--eval-every",
                            "1000000000",
                            "--optimality-gap",
                            "off",
                            "--checkpoint-every",
                            std::to_string(interval),
                            "--run-directory",
                            directory_ / run};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
    template <class Event>
    [[nodiscard]] Outcome outcome_of(const Arguments& command, Event&& event) const {
        Process process(command, directory_.path());
        EXPECT_TRUE(happens([&] { return has_checkpoint(directory_ / "run", 0); }))
            << "the training did not start";
        event();
        return process.wait();
    }
    /// Of restarts.txt, without dates.
    [[nodiscard]] std::vector<std::string> journal() const {
        std::vector<std::string> lines = lines_of(content_of(directory_ / "run/restarts.txt"));
        for (std::string& line : lines) line = line.substr(line.find(' ') + 1);
        return lines;
    }
    static constexpr long rounds = 10'000, interval = 200;
    TempDir directory_;
    std::string data_ = directory_.write("data.svm", small_data(400));
};

/// Of three ranks on this machine, one is killed.
class RunWithAKilledRank : public SupervisedRun {
  protected:
    /// deploy/mpirun with these hosts, or `sotto supervise` with plain mpirun.
    [[nodiscard]] Arguments command(bool plain, const Arguments& train) const {
        Arguments restarts{"--max-restarts", "3", "--restart-delay", "0:0"};
        const Arguments launch{"-n", "3", "--hostfile", directory_ / "here"};
        if (plain) {
            Arguments words{SOTTO_PROGRAM, "supervise"};
            words.insert(words.end(), restarts.begin(), restarts.end());
            words.insert(words.end(), {"--", "mpirun", "--oversubscribe", "--bind-to", "none"});
            words.insert(words.end(), launch.begin(), launch.end());
            words.emplace_back(SOTTO_PROGRAM);
            words.insert(words.end(), train.begin(), train.end());
            return words;
        }
        restarts.insert(restarts.end(), launch.begin(), launch.end());
        restarts.insert(restarts.end(), train.begin(), train.end());
        return launch_script(restarts);
    }
    void run(bool plain, const Arguments& more) {
        (void)directory_.write("here", "localhost slots=1\n");
        const Outcome outcome = outcome_of(command(plain, training("run", more)), [&] {
            const auto pids = ranks_with(directory_ / "run");
            ASSERT_EQ(pids.size(), 3U);
            ::kill(pids.back(), SIGKILL);
        });
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        EXPECT_TRUE(all_ended(directory_.path())) << "a process is left";
        const auto lines = journal();
        ASSERT_EQ(lines.size(), 4U) << content_of(directory_ / "run/restarts.txt");
        EXPECT_TRUE(lines[1].starts_with("exit code 137, a rank was killed; checkpoint of round "));
        EXPECT_TRUE(lines[1].ends_with("; restart 1 of 3 in 0 s"));
        EXPECT_TRUE(lines[2].starts_with("start 2 on localhost; checkpoint of round ")) << lines[2];
        EXPECT_TRUE(lines[3].starts_with("end, exit code 0; ")) << lines[3];
        for (const char* log : {"1/1/rank.0/stdout", "2/1/rank.0/stdout", "2/1/rank.2/stderr"})
            EXPECT_TRUE(fs::exists(directory_ / fmt::format("run/logs/{}", log))) << log;
        EXPECT_NE(content_of(directory_ / "run/logs/2/1/rank.0/stdout").find("resumed    after"),
                  std::string::npos);
        const Json phases = json_of(directory_ / "run/ledger.json").at("phases");
        ASSERT_EQ(phases.size(), 2U);
        EXPECT_GE(phases[1].at("first_round").get<long>(), interval);
        EXPECT_EQ(phases[1].at("first_round").get<long>() + phases[1].at("rounds").get<long>(),
                  rounds);
    }
};

TEST_F(RunWithAKilledRank, EndsWithTheModelsOfOneThatWasLeftAloneWhereThereIsNoNoise) {
    run(true, {"--mechanism", "none"});
    if (HasFatalFailure()) return;
    const Outcome alone =
        run_sotto(directory_,
                  one_process,
                  training("alone", {"--mechanism", "none", "--agents", "3", "--threads", "1"}));
    ASSERT_EQ(alone.exit_code, 0) << alone.text();
    for (int u = 0; u < 3; ++u) {
        const std::string model = fmt::format("/agents/{}/model.npy", u);
        EXPECT_TRUE(content_of(directory_ / "run" + model) ==
                    content_of(directory_ / "alone" + model))
            << "agent " << u;
    }
}

TEST_F(RunWithAKilledRank, StaysWithinItsBudgetWithWhatIsRepeated) {
    run(false, {});
    if (HasFatalFailure()) return;
    const Json ledger = json_of(directory_ / "run/ledger.json");
    expect_within_budget(ledger);
    EXPECT_GE(ledger.at("rounds").at("accounted").get<long>(), rounds);
}

TEST_F(RunWithAKilledRank, IsNotStartedAgainOnceItIsStopped) {
    (void)directory_.write("here", "localhost slots=1\n");
    Arguments train = training("run", {});
    *(std::ranges::find(train, "--rounds") + 1) = "100000000";
    Process process(command(true, train), directory_.path());
    ASSERT_TRUE(happens([&] { return has_checkpoint(directory_ / "run", 0); }))
        << "the training did not start";
    process.signal_group(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 8) << outcome.text();
    EXPECT_TRUE(all_ended(directory_.path())) << "a process is left";
    const auto lines = journal();
    ASSERT_EQ(lines.size(), 3U) << content_of(directory_ / "run/restarts.txt");
    EXPECT_TRUE(lines[1].starts_with("end, exit code 8; checkpoint of round ")) << lines[1];
    EXPECT_TRUE(lines[2].starts_with("to go on: sotto supervise -- mpirun ")) << lines[2];
    EXPECT_EQ(json_of(directory_ / "run/ledger.json").at("status"), "interrupted");
}

/// Of three hosts with two agents each, one is cut off for good.
class RunWithALostHost : public SupervisedRun {
  protected:
    void SetUp() override {
        std::string reason;
        hosts_ = Hosts::start(3, 2, directory_, reason);
        if (!hosts_) GTEST_SKIP() << reason;
    }
    [[nodiscard]] Outcome run(const Arguments& options) const {
        Arguments sotto{"--max-restarts", "3", "--restart-delay", "0:0", "--host-wait", "0"};
        sotto.insert(sotto.end(), options.begin(), options.end());
        const Arguments train = training("run", {"--topology", "complete", "--stall-abort", "5"});
        sotto.insert(sotto.end(), train.begin(), train.end());
        return outcome_of(hosts_->on_first(hosts_->launcher(6, sotto)), [&] { hosts_->cut(3); });
    }

    std::unique_ptr<Hosts> hosts_;
};

TEST_F(RunWithALostHost, GoesOnWithoutItsAgents) {
    const Outcome outcome = run({"--min-agents", "4"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const auto lines = journal();
    ASSERT_EQ(lines.size(), 5U) << content_of(directory_ / "run/restarts.txt");
    EXPECT_TRUE(lines[1].starts_with("exit code 5, the network or a peer failed; ")) << lines[1];
    EXPECT_EQ(lines[2], "no answer from 10.77.0.3 for 0 s; agents 4,5 leave, 4 are left");
    EXPECT_TRUE(lines[3].starts_with("start 2 on 10.77.0.1 10.77.0.2, without 10.77.0.3; "));
    const Json ledger = json_of(directory_ / "run/ledger.json");
    expect_within_budget(ledger);
    EXPECT_EQ(ledger.at("phases").back().at("agents_gone"), (Json{4, 5}));
    EXPECT_EQ(json_of(directory_ / "run/summary.json").at("rounds"), rounds);
}

TEST_F(RunWithALostHost, EndsWhereTooFewAgentsWouldBeLeft) {
    const Outcome outcome = run({"--min-agents", "5"});
    EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
    const auto lines = journal();
    ASSERT_EQ(lines.size(), 5U) << content_of(directory_ / "run/restarts.txt");
    EXPECT_EQ(lines[2], "without 10.77.0.3, 4 agents would be left, fewer than 5");
}

}  // namespace
}  // namespace sotto::test
