// What really crosses the wire: all packets of a job of three ranks over TCP, from the loopback
// device, against what the ranks recorded.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "packet_capture.hpp"
#include "program.hpp"
#include "recorded_job.hpp"

namespace sotto::test {
namespace {

constexpr int agents = 3;
constexpr int rounds = 200;
/// Messages of 8 kB.
constexpr int features = 1000;

/// One job and its packets.
class WireCapture : public testing::Test {
  protected:
    /// Skips the test where packets cannot be read.
    void run(const Arguments& more) {
        std::string reason;
        capture_ = PacketCapture::on_own_loopback(reason);
        if (!capture_) GTEST_SKIP() << reason;
        std::string records;
        for (int i = 0; i < 60; ++i)
            records += fmt::format(
                "{} {}:{} {}:1\n", i % 2 == 0 ? "+1" : "-1", 1 + i, 0.25 * (i % 5), features);
        Arguments arguments{"train",
                            "--task",
                            "logistic",
                            "--data",
                            directory_.write("data", records),
                            "--mechanism",
                            "corn",
                            "--rounds",
                            std::to_string(rounds),
                            "--eval-every",
                            "100",
                            "--final-gossip",
                            "0",  // after it all models are the same
                            "--quiet",
                            "--record-view",
                            "0,1,2",
                            "--run-directory",
                            "run"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        Arguments command = sotto_command(agents, arguments);
        // Launcher and ranks have nothing but the loopback device.
        const Arguments over_loopback{"--mca",
                                      "btl",
                                      "tcp,self",
                                      "--mca",
                                      "btl_tcp_if_include",
                                      "lo",
                                      "--mca",
                                      "oob_tcp_if_include",
                                      "lo"};
        command.insert(command.begin() + 1, over_loopback.begin(), over_loopback.end());
        const Outcome outcome = Process(command, directory_.path()).wait();
        capture_->stop();
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        ASSERT_EQ(capture_->losses(), "");
        job_.emplace(directory_ / "run", agents);
        for (const RecordedView& view : job_->views())
            ASSERT_EQ(view.records.size(), static_cast<std::size_t>(rounds));
    }

    [[nodiscard]] Needles messages() const {
        Needles needles = job_->messages();
        // Nearly all of them differ: the noise sees to that.
        EXPECT_GT(needles.count(), std::size_t{agents} * 15 * 7900);
        return needles;
    }
    /// Shares of secure sums before their masks: round(w_av m_v 2^40) as 64-bit words, v = sender.
    [[nodiscard]] Needles unmasked_shares(int sender) const {
        Needles needles(RecordedJob::message_window);
        const RecordedView& own = job_->views()[static_cast<std::size_t>(sender)];
        for (const int receiver : own.header.neighbours) {
            const RecordedView& theirs = job_->views()[static_cast<std::size_t>(receiver)];
            auto members = theirs.header.neighbours;
            members.push_back(receiver);
            std::ranges::sort(members);
            const auto place = std::ranges::lower_bound(members, sender) - members.begin();
            for (std::size_t r = 0; r < own.records.size(); r += RecordedJob::sampled) {
                const double weight = theirs.records[r].mixing_row[place];
                std::vector<std::int64_t> words;
                for (const double value : own.records[r].message.col(0))
                    words.push_back(std::llrint(std::ldexp(weight * value, 40)));
                needles.add_windows_of(bytes_of(words.data(), words.size() * sizeof(std::int64_t)));
            }
        }
        return needles;
    }
    [[nodiscard]] Needles models() const {
        Needles needles = job_->models();
        EXPECT_GT(needles.count(), std::size_t{agents} * 7900);
        return needles;
    }
    [[nodiscard]] Needles seeds() const {
        Needles needles = job_->seeds();
        EXPECT_GE(needles.count(), 64U);
        return needles;
    }
    [[nodiscard]] std::size_t found(const Needles& needles) const {
        return needles.found_in(capture_->streams());
    }

    TempDir directory_;
    std::unique_ptr<PacketCapture> capture_;
    std::optional<RecordedJob> job_;
};

TEST_F(WireCapture, HoldsNoMessageAndNoSeedWhenLinksAreEncrypted) {
    run({"--topology", "complete"});
    if (IsSkipped() || HasFatalFailure()) return;
    EXPECT_EQ(found(messages()), 0U);
    EXPECT_EQ(found(models()), 0U);
    EXPECT_EQ(found(seeds()), 0U);
    // All that was counted was seen, and little else: 1.5 % more was measured, for Open MPI's
    // headers (tens of bytes a message), the models of two evaluations, and the job's start and
    // end.
    const auto captured = static_cast<double>(capture_->bytes());
    EXPECT_GE(captured, job_->bytes_sent());
    EXPECT_LE(captured, 1.1 * job_->bytes_sent());
}

TEST_F(WireCapture, HoldsEveryMessageWhenLinksAreNotEncrypted) {
    run({"--topology", "complete", "--link-encryption", "off"});
    if (IsSkipped() || HasFatalFailure()) return;
    const Needles all = messages();
    EXPECT_EQ(found(all), all.count());
    // Agent 0 collects them, and keeps its own.
    EXPECT_GT(found(models()), std::size_t{agents - 1} * 7900);
    EXPECT_EQ(found(seeds()), 0U);
}

TEST_F(WireCapture, HoldsNoUnmaskedMessageOfSecureSums) {
    run({"--topology", "complete", "--link-encryption", "off", "--secure-sum", "on"});
    if (IsSkipped() || HasFatalFailure()) return;
    EXPECT_EQ(found(messages()), 0U);
    for (int sender = 0; sender < agents; ++sender)
        EXPECT_EQ(found(unmasked_shares(sender)), 0U) << "of agent " << sender;
    EXPECT_EQ(found(seeds()), 0U);
}

TEST_F(WireCapture, HoldsTheUnmaskedShareOfAnAgentWithOneNeighbour) {
    // On a path both ends have only agent 1: its message is their sum.
    run({"--topology", "path", "--link-encryption", "off", "--secure-sum", "on"});
    if (IsSkipped() || HasFatalFailure()) return;
    const Needles shares = unmasked_shares(1);
    EXPECT_EQ(found(shares), shares.count());
    EXPECT_EQ(found(unmasked_shares(0)) + found(unmasked_shares(2)), 0U);
}

}  // namespace
}  // namespace sotto::test
