// Jobs over three hosts by a file of hosts and TCP, started by deploy/mpirun.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "../cli/recorded_job.hpp"
#include "core/stopwatch.hpp"
#include "hosts.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;

constexpr int agents = 6;
constexpr int hosts = 3;
constexpr int slots = agents / hosts;

class ThreeHosts : public testing::Test {
  protected:
    void SetUp() override {
        std::string reason;
        hosts_ = Hosts::start(hosts, slots, directory_, reason);
        if (!hosts_) GTEST_SKIP() << reason;
    }
    [[nodiscard]] Arguments training(long rounds,
                                     const std::string& run,
                                     const Arguments& more) const {
        Arguments arguments{"train",
                            "--topology",
                            "complete",
                            "--rounds",
                            std::to_string(rounds),
                            "--run-directory",
                            directory_ / run};
        const char* data = std::getenv("SOTTO_DATA_DIR");
        if (data != nullptr && fs::exists(fs::path(data) / "a9a.gz"))
            arguments.insert(arguments.end(), {"--data", fs::path(data) / "a9a.gz"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }

    TempDir directory_;
    std::unique_ptr<Hosts> hosts_;
};

/// All that crosses between hosts, and models beside those of the same job on one host.
class WireBetweenHosts : public ThreeHosts {
  protected:
    void run(const Arguments& more) {
        Arguments options{
            "--eval-every", "100", "--quiet", "--noise-seed", "77", "--record-view", "0,1,2,3,4,5"};
        options.insert(options.end(), more.begin(), more.end());
        std::string reason;
        capture_ = hosts_->capture(reason);
        if (!capture_) GTEST_SKIP() << reason;
        const Arguments spread = hosts_->launcher(agents, training(rounds, "spread", options));
        const Outcome outcome = Process(hosts_->on_first(spread), directory_.path()).wait();
        capture_->stop();
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        ASSERT_EQ(capture_->losses(), "");
        job_.emplace(directory_ / "spread", agents);
        messages_.emplace(job_->messages());
        EXPECT_GT(messages_->count(), std::size_t{agents} * rounds / RecordedJob::sampled * 700);
        const Outcome together =
            run_sotto(directory_, agents, training(rounds, "together", options));
        ASSERT_EQ(together.exit_code, 0) << together.text();
    }
    [[nodiscard]] std::size_t found(const Needles& needles) const {
        return needles.found_in(capture_->streams());
    }
    void expect_the_models_of_one_host() const {
        for (int u = 0; u < agents; ++u) {
            const auto file = fmt::format("agents/{}/model.npy", u);
            const std::string spread = content_of(directory_ / ("spread/" + file));
            EXPECT_GT(spread.size(), 900U);
            EXPECT_TRUE(spread == content_of(directory_ / ("together/" + file))) << file;
        }
    }
    /// Of the bytes that agents sent, those to other hosts: everybody hears everybody.
    [[nodiscard]] double bytes_between_hosts() const {
        return job_->bytes_sent() * (agents - slots) / (agents - 1);
    }

    static constexpr int rounds = 100;
    std::unique_ptr<PacketCapture> capture_;
    std::optional<RecordedJob> job_;
    std::optional<Needles> messages_;
};

TEST_F(WireBetweenHosts, HoldsNothingReadableAndTheModelsAreThoseOfOneHost) {
    run({});
    if (IsSkipped() || HasFatalFailure()) return;
    EXPECT_EQ(found(*messages_), 0U);
    EXPECT_EQ(found(job_->models()), 0U);
    EXPECT_EQ(found(job_->seeds()), 0U);
    EXPECT_GE(static_cast<double>(capture_->bytes()), bytes_between_hosts());
    expect_the_models_of_one_host();
}

TEST_F(WireBetweenHosts, HoldsEveryMessageWhenLinksAreNotEncrypted) {
    run({"--link-encryption", "off"});
    if (IsSkipped() || HasFatalFailure()) return;
    EXPECT_EQ(found(*messages_), messages_->count());
    EXPECT_GT(found(job_->models()), 0U);
    EXPECT_EQ(found(job_->seeds()), 0U);
    EXPECT_GE(static_cast<double>(capture_->bytes()), bytes_between_hosts());
    expect_the_models_of_one_host();
}

/// The network of the hosts, which nobody names; each has docker0 besides.
class UnnamedNetwork : public ThreeHosts {
  protected:
    [[nodiscard]] Outcome run(const Arguments& launcher) const {
        Arguments command = launcher;
        const Arguments sotto = training(10, "run", {"--quiet"});
        command.insert(command.end(), sotto.begin(), sotto.end());
        return Process(hosts_->on_first(command), directory_.path()).wait();
    }
};

TEST_F(UnnamedNetwork, IsFoundByTheLaunchScript) {
    const Outcome outcome = run(launch_script(hosts_->launch_options(agents)));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_NE(outcome.err.find("btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include "
                               "10.77.0.0/24"),
              std::string::npos)
        << outcome.text();
}

TEST_F(UnnamedNetwork, IsSaidWhereRanksOfPlainMpirunDoNotReachEachOther) {
    Arguments launcher{"mpirun"};
    const Arguments options = hosts_->launch_options(agents);
    launcher.insert(launcher.end(), options.begin(), options.end());
    launcher.insert(launcher.end(), {"--mca", "btl", "tcp,vader,self", SOTTO_PROGRAM});
    const Outcome outcome = run(launcher);
    EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
    EXPECT_GE(outcome.seconds, 100);
    EXPECT_LT(outcome.seconds, 160) << outcome.text();
    const auto lines = error_lines(outcome.err);
    ASSERT_EQ(lines.size(), 1U) << outcome.text();
    EXPECT_NE(lines[0].find("docker0 172.17.0.1 (host1, host2, host3)"), std::string::npos)
        << lines[0];
    EXPECT_NE(lines[0].find("--mca btl_tcp_if_include 10.77.0.0/24 "), std::string::npos)
        << lines[0];
}

/// Files that are not the same on host 2, whose ranks are 2 and 3.
class FilesOfHosts : public ThreeHosts {
  protected:
    [[nodiscard]] Outcome run(const Arguments& more) const {
        Arguments arguments{"train", "--rounds", "10", "--quiet", "--run-directory"};
        arguments.insert(arguments.end(), {directory_ / "run"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        return Process(hosts_->on_first(hosts_->launcher(agents, arguments)), directory_.path())
            .wait();
    }
    static void expect_one_line(const Outcome& outcome, int code, const std::string& part) {
        EXPECT_EQ(outcome.exit_code, code) << outcome.text();
        const auto errors = error_lines(outcome.err);
        ASSERT_EQ(errors.size(), 1U) << outcome.text();
        EXPECT_NE(errors[0].find(part), std::string::npos) << outcome.text();
    }
};

TEST_F(FilesOfHosts, ThatHoldOtherRecordsAreRefusedNamingHostAndRank) {
    const std::string text = small_data(60);
    const std::string data = directory_.write("data.svm", text);
    const std::string cut = directory_.write("cut.svm", text.substr(0, text.size() / 2));
    hosts_->set_up(2, "mount --bind " + cut + " " + data);
    const Outcome outcome = run({"--data", data});
    // The first half ends inside a record, or after one.
    expect_one_line(outcome, 3, "data.svm has other records on rank 2 (host2), rank 3 (host2)");
    EXPECT_FALSE(fs::exists(directory_ / "run"));
}

TEST_F(FilesOfHosts, ThatCannotBeReadOrWrittenAreNamedWithHostAndRank) {
    const std::string data = directory_.write("data.svm", small_data(60));
    const std::string folder = directory_ / "run";
    hosts_->set_up(2, "mkdir " + folder + "; mount -t tmpfs -o ro none " + folder);
    expect_one_line(run({"--data", data}),
                    2,
                    "rank 2 (host2): run-directory: " + folder + "/agents/2 cannot be used");
    // Nobody has begun a run.
    hosts_->set_up(2, "mount --bind /dev/null " + data);
    expect_one_line(run({"--data", data}), 3, "rank 2 (host2): " + data);
    hosts_->set_up(2, ":");
    const Outcome outcome = run({"--data", data});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
}

/// The number of rounds that the furthest agent of a run sent, by its exact mark: two integers of
/// 64 bits, the phase and the first round of which nothing has left.
long furthest_mark(const std::string& run) {
    long furthest = 0;
    for (int u = 0; u < agents; ++u) {
        const std::string mark = content_of(fmt::format("{}/sent/{}.now", run, u));
        std::array<std::int64_t, 2> phase_and_round{};
        EXPECT_EQ(mark.size(), sizeof phase_and_round) << "agent " << u;
        std::memcpy(phase_and_round.data(), mark.data(), std::min(mark.size(), std::size_t{16}));
        EXPECT_EQ(phase_and_round[0], 0);
        furthest = std::max(furthest, static_cast<long>(phase_and_round[1]));
    }
    return furthest;
}

/// A run into which something happens.
class RunOverThreeHosts : public ThreeHosts {
  protected:
    static constexpr double limit = 5;
    /// @return how it ended; `seconds` are those since it happened.
    template <class Event>
    Outcome run(long rounds, const Arguments& more, Event&& event) {
        const std::string run = directory_ / "run";
        Arguments options{"--eval-every", "50", "--stall-abort", fmt::format("{}", limit)};
        options.insert(options.end(), more.begin(), more.end());
        const Arguments spread = hosts_->launcher(agents, training(rounds, "run", options));
        Process process(hosts_->on_first(spread), directory_.path());
        EXPECT_TRUE(happens([&] { return lines_of(content_of(run + "/metrics.csv")).size() > 4; }))
            << "the training did not start";
        const auto start = Clock::now();
        event();
        Outcome outcome = process.wait();
        outcome.seconds = seconds_since(start);
        // On every host, also one that cannot be reached.
        EXPECT_TRUE(happens([&] { return ranks_with(run).empty(); }, 5)) << "ranks are left";
        return outcome;
    }
    /// That somebody gave up and named a rank of host 3, which are 4 and 5.
    static void expect_silence_of_host_3(const Outcome& outcome) {
        EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
        bool named = false;
        for (const std::string& line : error_lines(outcome.err))
            named = named ||
                    (line.find("(--stall-abort 5); no answer from rank") != std::string::npos &&
                     line.find("(host3)") != std::string::npos);
        EXPECT_TRUE(named) << outcome.text();
        // mpirun gets 5 s after the abort.
        EXPECT_GE(outcome.seconds, limit - 1);
        EXPECT_LE(outcome.seconds, limit + 15) << outcome.text();
    }
};

TEST_F(RunOverThreeHosts, EndsAndNamesTheSilentWhenAHostIsCutOffAndCanBeTakenUp) {
    constexpr long rounds = 3000;
    const Outcome outcome = run(rounds, {"--checkpoint-every", "100"}, [&] { hosts_->cut(3); });
    expect_silence_of_host_3(outcome);

    const std::string folder = directory_ / "run";
    const long sent = furthest_mark(folder);
    const Outcome resumed = run_sotto(directory_, agents, {"train", "--resume", folder, "--quiet"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.text();
    EXPECT_EQ(json_of(folder + "/summary.json").at("rounds"), rounds);
    // Messages that had left after the checkpoint are accounted for beside those that repeat them.
    const auto phases = json_of(folder + "/ledger.json").at("phases");
    ASSERT_EQ(phases.size(), 2U);
    const long taken_up = phases[1].at("first_round");
    EXPECT_GE(taken_up, 100) << "no checkpoint was used";
    EXPECT_EQ(taken_up % 100, 0);
    // As many as the furthest agent sent, which may be none: hosts are also cut off while a
    // checkpoint is written.
    EXPECT_EQ(phases[0].at("rounds"), sent);
    EXPECT_GE(sent, taken_up);
    EXPECT_LE(sent, taken_up + 100);
    EXPECT_EQ(taken_up + phases[1].at("rounds").get<long>(), rounds);
}

constexpr long endless = 100'000'000'000;

TEST_F(RunOverThreeHosts, EndsAndNamesTheSilentWhenAProcessIsStopped) {
    const Outcome outcome =
        run(endless, {}, [&] { hosts_->signal_one(3, SOTTO_PROGRAM, SIGSTOP); });
    expect_silence_of_host_3(outcome);
}

TEST_F(RunOverThreeHosts, EndsSoonWhenAProcessIsKilled) {
    const Outcome outcome =
        run(endless, {}, [&] { hosts_->signal_one(3, SOTTO_PROGRAM, SIGKILL); });
    EXPECT_EQ(outcome.exit_code, 128 + SIGKILL) << outcome.text();
}

}  // namespace
}  // namespace sotto::test
