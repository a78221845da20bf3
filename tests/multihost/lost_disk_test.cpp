// Hosts with disks of their own: one is lost with all that was on it, and the run goes on.

#include <fmt/format.h>

#include <csignal>

#include "hosts.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class LostDisk : public testing::Test {
  protected:
    static constexpr int hosts = 3, slots = 2, agents = hosts * slots;
    void SetUp() override {
        std::string reason;
        hosts_ = Hosts::start(hosts, slots, directory_, reason);
        if (!hosts_) GTEST_SKIP() << reason;
        hosts_->own_disks("runs");
        for (int agent = 0; agent < agents; ++agent)
            ASSERT_EQ(run_sotto(directory_,
                                one_process,
                                {"keygen",
                                 "--identity",
                                 directory_ / fmt::format("id{}", agent),
                                 "--roster",
                                 directory_ / "roster"})
                          .exit_code,
                      0);
    }
    [[nodiscard]] fs::path disk(int host) const {
        return directory_.path() / fmt::format("disk{}", host);
    }
    [[nodiscard]] Outcome launch(int ranks, const Arguments& options) const {
        return Process(hosts_->on_first(hosts_->launcher(ranks, options)), directory_.path())
            .wait();
    }
    /// Starts a training, and kills a rank of host 3 once it has a checkpoint on the way.
    void train_and_kill(bool identities) const {
        Arguments options{"train",
                          "--data",
                          data_,
                          "--topology",
                          "complete",
                          "--rounds",
                          "3000",
                          "--batch-size",
                          "8",
                          "--optimality-gap",
                          "off",
                          "--eval-every",
                          "1000000",
                          "--checkpoint-every",
                          "200",
                          "--run-directory",
                          directory_ / "runs/run"};
        if (identities) options.insert(options.end(), {"--roster", directory_ / "roster"});
        if (identities) options.insert(options.end(), {"--identity", directory_ / "id%r"});
        Process process(hosts_->on_first(hosts_->launcher(agents, options)), directory_.path());
        EXPECT_TRUE(happens([&] { return newest_checkpoint() > 0; }));
        hosts_->signal_one(3, "[^ ]*sotto train", SIGKILL);
        EXPECT_EQ(process.wait().exit_code, 137);
    }
    /// Of those that are on other disks too: rank 0 writes manifests on host 1, host 2 keeps them;
    /// -1 without one.
    [[nodiscard]] long newest_checkpoint() const {
        long newest = -1;
        std::error_code ignored;
        for (const auto& folder : fs::directory_iterator(disk(1) / "run/checkpoints", ignored))
            if (fs::exists(folder.path() / "manifest.json") &&
                fs::exists(disk(2) / "run/checkpoints" / folder.path().filename() / "run.copy"))
                newest = std::max(newest, std::stol(folder.path().filename()));
        return newest;
    }
    [[nodiscard]] Arguments resume(const Arguments& more) const {
        Arguments options{"train", "--resume", directory_ / "runs/run"};
        options.insert(options.end(), more.begin(), more.end());
        return options;
    }
    /// Of the phase that ended: what the ledger counts is at least what all marks said before.
    void expect_counted(long most_marked, const fs::path& run) const {
        const Json phases = json_of(run / "ledger.json").at("phases");
        ASSERT_EQ(phases.size(), 2U);
        EXPECT_GE(phases[0].at("rounds").get<long>(), most_marked);
        EXPECT_LE(phases[0].at("rounds").get<long>(), newest_before_ + 2 * 200);
        EXPECT_EQ(phases[1].at("first_round").get<long>(), newest_before_);
    }

    TempDir directory_;
    std::string data_ = directory_.write("data.svm", small_data(400));
    std::unique_ptr<Hosts> hosts_;
    long newest_before_ = 0;
};

/// Rounds in the mark of a process.
long marked(const fs::path& file) {
    long round = -1;
    for (const std::string& line : lines_of(content_of(file)))
        if (line.starts_with("round ")) round = std::stol(line.substr(6));
    return round;
}

class EveryHost : public LostDisk, public testing::WithParamInterface<int> {};

TEST_P(EveryHost, MayLoseItsDiskAndGetsBackWhatTheOthersKeep) {
    train_and_kill(true);
    if (HasFailure()) return;
    newest_before_ = newest_checkpoint();
    // Rank 2 h is the lowest of host h + 1.
    const long most = marked(disk(GetParam()) / fmt::format("run/sent/{}", 2 * GetParam() - 2));
    EXPECT_GT(most, 0);
    fs::remove_all(disk(GetParam()) / "run");
    const Outcome look = launch(agents, resume({"--identity", directory_ / "id%r", "--dry-run"}));
    EXPECT_EQ(look.exit_code, 0) << look.text();
    EXPECT_NE(look.out.find("its checkpoint would be restored"), std::string::npos) << look.text();
    EXPECT_FALSE(fs::exists(disk(GetParam()) / "run")) << "a dry run leaves something behind";
    const Outcome without_identity = launch(agents, resume({}));
    EXPECT_EQ(without_identity.exit_code, 3) << without_identity.text();
    EXPECT_NE(without_identity.err.find("give --identity with --resume"), std::string::npos)
        << without_identity.text();
    const Outcome outcome =
        launch(agents, resume({"--identity", directory_ / "id%r", "--stall-abort", "20"}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_NE(outcome.out.find("its checkpoint was restored from a copy on another disk"),
              std::string::npos)
        << outcome.text();
    expect_counted(most, disk(1) / "run");
    const Json ledger = json_of(disk(1) / "run/ledger.json");
    EXPECT_EQ(ledger.at("status"), "completed");
    EXPECT_LE(ledger.at("headline").at("epsilon").get<double>(), 10 * (1 + 1e-9));
    EXPECT_TRUE(
        fs::exists(disk(GetParam()) / fmt::format("run/agents/{}/model.npy", 2 * GetParam() - 1)));
}
INSTANTIATE_TEST_SUITE_P(, EveryHost, testing::Values(1, 2, 3));

TEST_F(LostDisk, OfAnAgentWithoutIdentityIsLeftBehindWithItsAgents) {
    train_and_kill(false);
    if (HasFailure()) return;
    newest_before_ = newest_checkpoint();
    const long most = marked(disk(3) / "run/sent/4");
    fs::remove_all(disk(3) / "run");
    const Outcome all = launch(agents, resume({}));
    EXPECT_EQ(all.exit_code, 3) << all.text();
    const Outcome outcome = launch(agents - slots, resume({"--without", "4,5"}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    expect_counted(most, disk(1) / "run");
}

TEST_F(LostDisk, TakesNoCopyThatWasChanged) {
    train_and_kill(true);
    if (HasFailure()) return;
    fs::remove_all(disk(2) / "run");
    long changed = 0;
    for (const auto& entry : fs::recursive_directory_iterator(disk(3) / "run"))
        if (entry.path().filename() == "agent-2.copy") {
            std::string bytes = content_of(entry.path());
            bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
            std::ofstream(entry.path(), std::ios::binary) << bytes;
            ++changed;
        }
    EXPECT_GE(changed, 1);
    const Outcome outcome = launch(agents, resume({"--identity", directory_ / "id%r"}));
    EXPECT_EQ(outcome.exit_code, 3) << outcome.text();
}

}  // namespace
}  // namespace sotto::test
