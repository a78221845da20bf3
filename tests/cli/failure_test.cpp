#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>

#include "core/stopwatch.hpp"
#include "program.hpp"
#include "small_disk.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Failure : public ::testing::Test {
  protected:
    static constexpr int ranks = 4;

    [[nodiscard]] Arguments training(long rounds, const Arguments& more) const {
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
                            "--run-directory",
                            run_};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
    [[nodiscard]] Json ledger() const { return json_of(run_ + "/ledger.json"); }

    TempDir directory_;
    std::string data_ = directory_.write("data.svm", small_data(400));
    std::string run_ = directory_ / "run";
};

TEST_F(Failure, KilledAtRandomMomentsItGoesOnEveryTime) {
    const char* wanted = std::getenv("SOTTO_KILLS");
    const int kills = wanted != nullptr ? std::atoi(wanted) : 5;
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    // As many as take about two seconds a kill, however fast the machine is.
    Arguments trial = training(1000, {"--json", "-", "--quiet"});
    *(std::ranges::find(trial, "--run-directory") + 1) = directory_ / "trial";
    const Outcome tried = run_sotto(directory_, ranks, trial);
    ASSERT_EQ(tried.exit_code, 0) << tried.text();
    const double seconds = Json::parse(tried.out).at("seconds").at("loop");
    const long rounds = std::max(2000L, std::lround(kills * 2000 / seconds));
    const Arguments first = training(rounds, {"--checkpoint-every", "500"});
    const Arguments again{"train", "--resume", run_};
    int killed = 0;
    long epoch = -1, round = 0;
    for (int i = 0; i < kills; ++i) {
        const bool begun = i > 0;
        Process process(sotto_command(ranks, begun ? again : first), directory_.path());
        // Anywhere: in the bootstrap, a round, a checkpoint; the first time once there is one.
        ASSERT_TRUE(happens(
            [&] { return begun ? ranks_with(run_).size() == ranks : has_checkpoint(run_); }));
        // Not while Open MPI starts: its launcher may then wait for ever (PMIX ERROR: UNREACHABLE).
        std::this_thread::sleep_for(
            std::chrono::milliseconds(begun ? 250 + random() % 1250 : random() % 500));
        const auto victims = ranks_with(run_);
        if (!victims.empty()) ::kill(victims[random() % victims.size()], SIGKILL);
        const Outcome outcome = process.wait();
        ASSERT_LT(outcome.seconds, 60) << outcome.text();
        EXPECT_TRUE(all_ended(directory_.path()));
        if (!fs::exists(run_ + "/history.json")) continue;
        if (json_of(run_ + "/history.json").at("completed")) break;  // before it could be killed
        ++killed;
        // What is said about an earlier failure is true: nothing was damaged.
        EXPECT_EQ(outcome.err.find("damaged"), std::string::npos) << outcome.text();
        const Json history = json_of(run_ + "/history.json");
        const long now = history.at("phases").back().at("key_epoch");
        EXPECT_GE(now, epoch);
        epoch = now;
        EXPECT_GE(history.at("phases").back().at("first_round").get<long>(), round);
        round = history.at("phases").back().at("first_round");
    }
    EXPECT_GT(killed, 0);
    ASSERT_TRUE(has_checkpoint(run_));
    if (!json_of(run_ + "/history.json").at("completed")) {
        Process last(sotto_command(ranks, again), directory_.path());
        const Outcome outcome = last.wait();
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    }

    const Json end = ledger();
    EXPECT_EQ(end.at("status"), "completed");
    EXPECT_EQ(end.at("rounds").at("completed"), rounds);
    EXPECT_LE(end.at("headline").at("epsilon").get<double>(), 10 * (1 + 1e-9));
    EXPECT_GT(end.at("headline").at("epsilon").get<double>(), 9.99);
    // Key epochs ascend, no phase begins after what was sent, and all that was sent is counted.
    long sent = 0, reached = 0, before = -1;
    for (const Json& phase : end.at("phases")) {
        EXPECT_GT(phase.at("key_epoch").get<long>(), before);
        before = phase.at("key_epoch");
        EXPECT_LE(phase.at("first_round").get<long>(), reached);
        sent += phase.at("rounds").get<long>();
        reached = phase.at("first_round").get<long>() + phase.at("rounds").get<long>();
    }
    EXPECT_EQ(reached, rounds);
    EXPECT_EQ(end.at("rounds").at("accounted"), sent);
    for (int u = 0; u < ranks; ++u)
        EXPECT_TRUE(fs::exists(fmt::format("{}/agents/{}/model.npy", run_, u)));
}

TEST_F(Failure, CleanStopGoesOnBitForBitWithOtherProcesses) {
    // One process does it all; then ranks begin, and one process ends it.
    const Arguments common{"--noise-seed", "5"};
    constexpr long rounds = 400'000;  // with most of them ahead when the signal comes
    Arguments whole = training(rounds, common);
    whole.insert(whole.end(), {"--agents", std::to_string(ranks), "--threads", "1"});
    *(std::ranges::find(whole, "--run-directory") + 1) = directory_ / "whole";
    const Outcome alone = run_sotto(directory_, one_process, whole);
    ASSERT_EQ(alone.exit_code, 0) << alone.text();
    const LongerGrace grace;
    Process process(sotto_command(ranks, training(rounds, common)), directory_.path());
    ASSERT_TRUE(happens([&] { return lines_of(content_of(run_ + "/metrics.csv")).size() > 1; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    process.signal_group(SIGINT);
    const Outcome stopped = process.wait();
    EXPECT_LT(stopped.seconds, 30) << stopped.text();
    ASSERT_NE(stopped.exit_code, 0) << stopped.text();
    ASSERT_TRUE(has_checkpoint(run_)) << stopped.text();
    const Outcome rest =
        run_sotto(directory_, one_process, {"train", "--resume", run_, "--threads", "1"});
    ASSERT_EQ(rest.exit_code, 0) << rest.text();
    EXPECT_NE(rest.out.find("with the same keys"), std::string::npos) << rest.text();
    for (int u = 0; u < ranks; ++u)
        EXPECT_EQ(content_of(fmt::format("{}/agents/{}/model.npy", run_, u)),
                  content_of(directory_ / fmt::format("whole/agents/{}/model.npy", u)))
            << "agent " << u;
    EXPECT_EQ(ledger().at("headline"), json_of(directory_ / "whole/ledger.json").at("headline"));
}

TEST_F(Failure, StoppedRankIsNamedAndTheJobEnds) {
    Process process(
        sotto_command(ranks,
                      training(100'000'000, {"--checkpoint-every", "500", "--stall-abort", "4"})),
        directory_.path());
    ASSERT_TRUE(happens([&] { return has_checkpoint(run_); }));
    const auto pids = ranks_with(run_);
    ASSERT_EQ(pids.size(), std::size_t{ranks});
    const auto start = Clock::now();
    ::kill(pids.back(), SIGSTOP);
    const Outcome outcome = process.wait();
    ::kill(pids.back(), SIGKILL);
    const double waited = seconds_since(start);
    EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
    EXPECT_GE(waited, 4);
    EXPECT_LT(waited, 30);
    EXPECT_NE(outcome.err.find("no answer from rank"), std::string::npos) << outcome.text();
    EXPECT_NE(outcome.err.find("--stall-abort 4"), std::string::npos) << outcome.text();
    EXPECT_TRUE(all_ended(directory_.path()));
    // "failed", or "running" where rank 0 was the one that was stopped, or ended before it could
    // write: both count all planned rounds.
    EXPECT_NE(ledger().at("status"), "completed");
    EXPECT_EQ(ledger().at("rounds").at("accounted"), 100'000'000);
    EXPECT_NE(content_of(run_ + "/failure.txt").find("no answer from rank"), std::string::npos);

    // The checkpoint is usable.
    const Json history = json_of(run_ + "/history.json");
    EXPECT_EQ(history.at("completed"), false);
    Process again(sotto_command(ranks, {"train", "--resume", run_, "--dry-run"}),
                  directory_.path());
    const Outcome resumed = again.wait();
    EXPECT_EQ(resumed.exit_code, 0) << resumed.text();
    EXPECT_NE(resumed.out.find("resumed    after"), std::string::npos) << resumed.text();
}

TEST_F(Failure, SlowRoundsAreNotTakenForLost) {
    // Stopped for longer than the warning, shorter than the end.
    Process process(sotto_command(ranks, training(20'000, {"--stall-abort", "20"})),
                    directory_.path());
    ASSERT_TRUE(happens([&] { return lines_of(content_of(run_ + "/metrics.csv")).size() > 1; }));
    const auto pids = ranks_with(run_);
    ASSERT_FALSE(pids.empty());
    ::kill(pids.front(), SIGSTOP);
    std::this_thread::sleep_for(std::chrono::seconds(8));
    ::kill(pids.front(), SIGCONT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_NE(outcome.err.find("no answer from rank"), std::string::npos) << outcome.text();
    EXPECT_NE(outcome.err.find("goes on"), std::string::npos) << outcome.text();
}

TEST_F(Failure, CrashedRankEndsTheJob) {
    Process process(sotto_command(ranks, training(100'000'000, {"--checkpoint-every", "500"})),
                    directory_.path());
    ASSERT_TRUE(happens([&] { return has_checkpoint(run_); }));
    const auto pids = ranks_with(run_);
    ASSERT_FALSE(pids.empty());
    ::kill(pids[pids.size() / 2], SIGSEGV);
    const Outcome outcome = process.wait();
    EXPECT_LT(outcome.seconds, 30) << outcome.text();
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_TRUE(all_ended(directory_.path()));
    // Whoever died could not write: what stands there counts all planned rounds.
    const Json left = ledger();
    EXPECT_NE(left.at("status"), "completed");
    EXPECT_EQ(left.at("rounds").at("accounted"), 100'000'000);
}

TEST_F(Failure, FullDiskEndsTheJobAndLeavesWhatWasWhole) {
    const SmallDisk disk(directory_ / "disk", "192k");
    if (!disk.mounted()) GTEST_SKIP() << SmallDisk::not_permitted;
    run_ = directory_ / "disk/run";
    // Rows of metrics fill it, a few kilobytes a checkpoint.
    Arguments arguments = training(40'000, {"--checkpoint-every", "500"});
    *(std::ranges::find(arguments, "--eval-every") + 1) = "20";
    Process process(sotto_command(ranks, arguments), directory_.path());
    const Outcome outcome = process.wait();
    EXPECT_FALSE(outcome.timed_out) << outcome.text();
    EXPECT_EQ(outcome.exit_code, 9) << outcome.text();
    EXPECT_NE(outcome.err.find("sotto: "), std::string::npos) << outcome.text();
    EXPECT_TRUE(all_ended(directory_.path()));
    ASSERT_TRUE(has_checkpoint(run_)) << outcome.text();

    ASSERT_TRUE(disk.resize("20m"));
    Process again(sotto_command(ranks, {"train", "--resume", run_, "--eval-every", "20000"}),
                  directory_.path());
    const Outcome resumed = again.wait();
    ASSERT_EQ(resumed.exit_code, 0) << resumed.text();
    EXPECT_EQ(ledger().at("status"), "completed");
    EXPECT_LE(ledger().at("headline").at("epsilon").get<double>(), 10 * (1 + 1e-9));
}

TEST_F(Failure, StartThatEndedBeforeItsRunBeganLeavesADirectoryThatIsUsedAgain) {
    // Disks on which there is no room for all that comes before the first round.
    int ended_before = 0;
    for (int kilobytes = 16; kilobytes <= 96; kilobytes += 8) {
        const SmallDisk disk(directory_ / "disk", fmt::format("{}k", kilobytes));
        if (!disk.mounted()) GTEST_SKIP() << SmallDisk::not_permitted;
        run_ = directory_ / "disk/run";
        const Arguments arguments = training(200, {"--agents", "4"});
        const Outcome first = run_sotto(directory_, one_process, arguments);
        if (first.exit_code == 0) break;
        EXPECT_EQ(first.exit_code, 9) << first.text();
        if (fs::exists(run_ + "/config.ini")) continue;
        if (fs::exists(run_ + "/history.json")) ++ended_before;
        ASSERT_TRUE(disk.resize("20m"));
        const Outcome again = run_sotto(directory_, one_process, arguments);
        ASSERT_EQ(again.exit_code, 0) << kilobytes << " KB\n" << first.text() << again.text();
        EXPECT_EQ(ledger().at("status"), "completed");
        EXPECT_EQ(ledger().at("rounds").at("accounted"), 200);
        EXPECT_EQ(ledger().at("phases").size(), 1U);
        // Now it is a run's.
        expect_refused(directory_, arguments, 2, "already holds a run");
    }
    EXPECT_GT(ended_before, 0);
}

TEST_F(Failure, RefusesWhatDoesNotFitARunThatGoesOn) {
    const auto refused = [&](const Arguments& arguments, const std::string& part) {
        expect_refused(directory_, arguments, 2, part);
    };
    refused({"train", "--without", "1"}, "--resume DIR is needed");
    refused({"train", "--resume", run_}, "holds no run");
    const Outcome done = run_sotto(directory_, one_process, training(200, {"--agents", "4"}));
    ASSERT_EQ(done.exit_code, 0) << done.text();
    expect_refused(directory_, {"train", "--resume", run_}, 7, "is complete");
    refused({"train", "--resume", run_, "--epsilon", "3"}, "--epsilon: cannot be given");
    refused({"train", "--resume", run_, "--rounds", "300"}, "--rounds: cannot be given");
    refused({"train", "--resume", run_, "--without", "1,1"}, "named twice");
    refused({"train", "--resume", run_, "--without", "x"}, "--without");
    // Whatever was refused, the run is as it was.
    EXPECT_EQ(ledger().at("status"), "completed");
}

}  // namespace
}  // namespace sotto::test
