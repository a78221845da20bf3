// deploy/slurm and deploy/mpirun as jobs of Slurm over three nodes.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <ranges>

#include "../multihost/interrupted_run.hpp"
#include "cluster.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int agents = 6;
constexpr long rounds = 3000, interval = 100, endless = 100'000'000'000;

class SlurmJob : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        directory_ = std::make_unique<TempDir>();
        (void)directory_->write("data.svm", small_data(400));
        cluster_ = SlurmCluster::start(*directory_, reason_);
    }
    static void TearDownTestSuite() {
        cluster_.reset();
        directory_.reset();
    }
    void SetUp() override {
        if (cluster_ == nullptr && !reason_.empty()) GTEST_SKIP() << reason_;
        ASSERT_NE(cluster_, nullptr) << "there is no Slurm";
    }
    void TearDown() override {
        if (cluster_ == nullptr) return;
        (void)cluster_->run({"scancel", "--user=root"});
        EXPECT_TRUE(cluster_->is_idle()) << cluster_->logs();
    }

    static Arguments training(long length, const Arguments& more = {}) {
        Arguments options{"--data",
                          *directory_ / "data.svm",
                          "--rounds",
                          std::to_string(length),
                          "--batch-size",
                          "8",
                          "--eval-every",
                          "1000000000",
                          "--optimality-gap",
                          "off",
                          "--checkpoint-every",
                          std::to_string(interval)};
        options.insert(options.end(), more.begin(), more.end());
        return options;
    }
    /// deploy/slurm with options of sbatch, and of `sotto train`. @return the job's number.
    static std::string submit(Arguments words, const Arguments& train) {
        words.emplace_back(SOTTO_DEPLOY_DIR "/slurm");
        words.insert(words.end(), train.begin(), train.end());
        return std::to_string(cluster_->submit(words));
    }
    static Arguments on_nodes(const char* nodes, int ranks = agents) {
        return {"-N", nodes, "-n", std::to_string(ranks)};
    }
    static std::string run_of(const std::string& job) { return "runs/slurm-" + job; }
    static fs::path directory_of(const std::string& job) { return *directory_ / run_of(job); }
    static std::string log_of(const std::string& job) {
        return content_of(*directory_ / fmt::format("sotto-{}.log", job));
    }
    static std::vector<std::string> starts_of(const std::string& job) {
        std::vector<std::string> starts;
        for (std::string& line : lines_of(log_of(job)))
            if (line.starts_with("+ srun ")) starts.push_back(std::move(line));
        return starts;
    }
    static bool was_resumed(const std::string& job) {
        return log_of(job).find("\nresumed    after ") != std::string::npos;
    }
    static bool comes_to(const std::string& job, const std::string& state) {
        const auto done = [&] { return cluster_->job(job, "JobState") == state; };
        const bool well =
            happens([&] { return done() || cluster_->job(job, "JobState") == "FAILED"; });
        EXPECT_TRUE(well && done()) << "job " << job << " is not " << state << "\n"
                                    << cluster_->run({"scontrol", "show", "job", job}).text()
                                    << log_of(job) << cluster_->logs();
        return done();
    }
    /// Whether every job came to a checkpoint, after which its rank on the host is held unless 0:
    /// no training ends before Slurm acts, which lets the rank go on when it sends a signal. All
    /// jobs are looked at in turn: one of them may train while another still waits to start.
    static bool are_on_the_way(std::vector<std::string> jobs, int held = 3) {
        const bool well = happens([&] {
            std::erase_if(jobs, [&](const std::string& job) {
                if (!has_checkpoint(directory_of(job), 0)) return false;
                if (held != 0) cluster_->signal_rank(held, run_of(job), SIGSTOP);
                return true;
            });
            return jobs.empty();
        });
        for (const std::string& job : jobs)
            ADD_FAILURE() << "training " << job << " did not start\n"
                          << log_of(job) << cluster_->logs();
        return well;
    }
    /// That the job was started again, in the one directory and log, and ended with its budget
    /// spent.
    static void expect_taken_up(const std::string& job, const std::string& restarts = "1") {
        ASSERT_TRUE(comes_to(job, "COMPLETED"));
        EXPECT_EQ(cluster_->job(job, "Restarts"), restarts);
        const auto starts = starts_of(job);
        ASSERT_EQ(starts.size(), 2U) << log_of(job);
        EXPECT_NE(starts[0].find(" --run-directory runs/slurm-" + job), std::string::npos);
        EXPECT_TRUE(starts[1].ends_with(" train --resume runs/slurm-" + job)) << starts[1];
        const fs::path run = directory_of(job);
        EXPECT_EQ(lines_of(content_of(run / "slurm.txt")).size(), 2U);
        EXPECT_EQ(json_of(run / "summary.json").at("rounds"), rounds);
        const Json ledger = json_of(run / "ledger.json");
        expect_within_budget(ledger);
        EXPECT_GE(ledger.at("rounds").at("accounted").get<long>(), rounds);
    }
    static Json phases_of(const std::string& job) {
        return json_of(directory_of(job) / "ledger.json").at("phases");
    }

    static inline std::unique_ptr<TempDir> directory_;
    static inline std::unique_ptr<SlurmCluster> cluster_;
    static inline std::string reason_;
};

TEST_F(SlurmJob, TrainsOverThreeNodesWithLogAndDirectoryWhereTheyAreDocumented) {
    const std::string job = submit(on_nodes("3"), training(300));
    ASSERT_TRUE(comes_to(job, "COMPLETED"));
    EXPECT_EQ(cluster_->job(job, "NodeList"), "host[2-4]");
    const fs::path run = directory_of(job);
    EXPECT_EQ(json_of(run / "summary.json").at("agents"), agents);
    expect_within_budget(json_of(run / "ledger.json"));
    EXPECT_TRUE(content_of(run / "slurm.txt")
                    .ends_with(fmt::format(" job {}, start 0, on host[2-4]\n", job)));
    EXPECT_EQ(starts_of(job).size(), 1U) << log_of(job);
    EXPECT_NE(log_of(job).find("pairs, 6 agents, 300 rounds"), std::string::npos);
}

TEST_F(SlurmJob, GoesOnInTheSameRunWhenItIsRequeuedOrARankIsKilled) {
    const std::string requeued = submit(on_nodes("3"), training(rounds));
    const std::string killed = submit(on_nodes("3"), training(rounds));
    ASSERT_TRUE(are_on_the_way({requeued, killed}));
    EXPECT_EQ(cluster_->run({"scontrol", "requeue", requeued}).exit_code, 0);
    cluster_->signal_rank(4, run_of(killed), SIGKILL);
    expect_taken_up(requeued);
    expect_taken_up(killed);
    if (HasFatalFailure()) return;
    // Slurm's SIGTERM let the ranks stop cleanly: nothing is done again.
    const Json phases = phases_of(requeued);
    ASSERT_EQ(phases.size(), 2U);
    EXPECT_EQ(phases[1].at("first_round"), phases[0].at("rounds"));
    EXPECT_EQ(phases[0].at("rounds").get<long>() + phases[1].at("rounds").get<long>(), rounds);
    // What left after the checkpoint counts, and is done again.
    EXPECT_GE(phases_of(killed)[0].at("rounds"), phases_of(killed)[1].at("first_round"));
}

TEST_F(SlurmJob, GoesOnOnFewerNodesWhenOneIsLostOrWaitsForItAsItsNodesAreGiven) {
    const std::string fewer = submit(on_nodes("2-3"), training(rounds));
    const std::string waiting = submit(on_nodes("3"), training(rounds));
    ASSERT_TRUE(are_on_the_way({fewer, waiting}, 4));
    for (const std::string& job : {fewer, waiting})
        ASSERT_EQ(cluster_->job(job, "NodeList"), "host[2-4]");
    cluster_->lose(4);
    expect_taken_up(fewer);
    ASSERT_TRUE(comes_to(waiting, "PENDING"));
    cluster_->bring_back(4);
    expect_taken_up(waiting);
    if (HasFatalFailure()) return;
    EXPECT_EQ(cluster_->job(fewer, "NodeList"), "host[2-3]");
    EXPECT_EQ(cluster_->job(waiting, "NodeList"), "host[2-4]");
    for (const std::string& job : {fewer, waiting}) {
        const Json phases = phases_of(job);
        ASSERT_EQ(phases.size(), 2U);
        EXPECT_EQ(phases[1].at("agents_gone"), Json::array());
        EXPECT_GE(phases[0].at("rounds"), phases[1].at("first_round"));
    }
}

TEST_F(SlurmJob, GoesOnWithTheSameBitsAfterAPreemptionWithGraceTime) {
    const Arguments options = training(rounds, {"--noise-seed", "5"});
    const std::string job = submit(on_nodes("3"), options);
    ASSERT_TRUE(are_on_the_way({job}));
    const long other =
        cluster_->submit({"-p", "high", "-N", "3", "--exclusive", "--wrap", "sleep 1"});
    expect_taken_up(job);
    if (HasFatalFailure()) return;
    ASSERT_TRUE(comes_to(std::to_string(other), "COMPLETED"));
    EXPECT_EQ(json_of(directory_of(job) / "summary.json").at("resumed").at("same_keys"), true);
    Arguments alone{"train", "--agents", std::to_string(agents), "--run-directory", "alone"};
    alone.insert(alone.end(), options.begin(), options.end());
    const Outcome outcome = run_sotto(*directory_, one_process, alone);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    for (int u = 0; u < agents; ++u) {
        const std::string model = fmt::format("agents/{}/model.npy", u);
        EXPECT_TRUE(content_of(directory_of(job) / model) ==
                    content_of(*directory_ / ("alone/" + model)))
            << "agent " << u;
    }
}

TEST_F(SlurmJob, IsStoppedBeforeItsTimeLimitAndStartedAgain) {
    Arguments words = on_nodes("3");
    words.insert(words.end(), {"--signal=B:USR1@90"});
    const std::string job = submit(words, training(endless));
    ASSERT_TRUE(are_on_the_way({job}, 0));
    // Slurm looks at time limits, of whole minutes, every half minute.
    const auto limit = [&](const char* minutes) {
        const Outcome outcome = cluster_->run(
            {"scontrol", "update", "JobId=" + job, std::string("TimeLimit=") + minutes});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    };
    cluster_->let_start(false);
    limit("2");
    ASSERT_TRUE(comes_to(job, "PENDING"));
    limit("60");
    cluster_->let_start(true);
    ASSERT_TRUE(happens([&] { return was_resumed(job); })) << log_of(job) << cluster_->logs();
    EXPECT_EQ(cluster_->job(job, "Restarts"), "1");
    EXPECT_EQ(starts_of(job).size(), 2U) << log_of(job);
    EXPECT_NE(log_of(job).find("INTERRUPTED after "), std::string::npos) << log_of(job);
    EXPECT_EQ(log_of(job).find("DUE TO TIME LIMIT"), std::string::npos) << log_of(job);
}

TEST_F(SlurmJob, EndsForGoodWhenCancelledAndCanGoOnWithoutAgents) {
    const std::string job = submit(on_nodes("3"), training(rounds, {"--topology", "complete"}));
    ASSERT_TRUE(are_on_the_way({job}));
    EXPECT_EQ(cluster_->run({"scancel", job}).exit_code, 0);
    ASSERT_TRUE(comes_to(job, "CANCELLED"));
    ASSERT_TRUE(cluster_->is_idle());
    EXPECT_EQ(cluster_->job(job, "Restarts"), "0");
    EXPECT_EQ(json_of(directory_of(job) / "ledger.json").at("status"), "interrupted")
        << log_of(job);

    // On two nodes, and requeued itself: agents that have left are not named again.
    const std::string run = run_of(job);
    const std::string next = submit(on_nodes("2", 4), {"--resume", run, "--without", "4,5"});
    ASSERT_TRUE(happens([&] { return was_resumed(next); })) << log_of(next) << cluster_->logs();
    cluster_->signal_rank(3, run, SIGSTOP);
    EXPECT_EQ(cluster_->run({"scontrol", "requeue", next}).exit_code, 0);
    ASSERT_TRUE(comes_to(next, "COMPLETED"));
    const auto starts = starts_of(next);
    ASSERT_EQ(starts.size(), 2U) << log_of(next);
    EXPECT_TRUE(starts[0].ends_with(" train --resume " + run + " --without 4\\,5")) << starts[0];
    EXPECT_TRUE(starts[1].ends_with(" train --resume " + run)) << starts[1];
    const Json ledger = json_of(directory_of(job) / "ledger.json");
    expect_within_budget(ledger);
    EXPECT_EQ(ledger.at("phases").back().at("agents_gone"), (Json{4, 5}));
    EXPECT_EQ(json_of(directory_of(job) / "summary.json").at("rounds"), rounds);
}

TEST_F(SlurmJob, EndsAtItsCheckpointWhenRepeatedRoundsHaveUsedUpABudget) {
    constexpr long length = 10'000'000;
    Arguments options = training(length);
    options.back() = std::to_string(length);
    const std::string job = submit(on_nodes("3"), options);
    const fs::path run = directory_of(job);
    const auto has_sent = [&](int u) {
        return content_of(run / fmt::format("sent/{}", u)).find("\nround ") != std::string::npos;
    };
    ASSERT_TRUE(happens([&] {
        return has_checkpoint(run) && std::ranges::all_of(std::views::iota(0, agents), has_sent);
    })) << log_of(job);
    cluster_->let_start(false);
    cluster_->signal_rank(4, run_of(job), SIGKILL);
    ASSERT_TRUE(comes_to(job, "PENDING"));
    // As after a loss of power, when all messages but those of the end had left.
    for (int u = 0; u < agents; ++u) {
        const fs::path mark = run / fmt::format("sent/{}", u);
        std::string text = content_of(mark);
        text.replace(text.find("\nround "), std::string::npos, fmt::format("\nround {}\n", length));
        std::ofstream(mark) << text;
        fs::remove(run / fmt::format("sent/{}.now", u));
    }
    cluster_->let_start(true);
    ASSERT_TRUE(comes_to(job, "COMPLETED"));
    const auto starts = starts_of(job);
    ASSERT_EQ(starts.size(), 3U) << log_of(job);
    EXPECT_TRUE(starts[1].ends_with(" train --resume " + run_of(job))) << starts[1];
    EXPECT_EQ(starts[2], starts[1] + " --finish");
    EXPECT_NE(log_of(job).find("a budget does not allow another round; checkpoint of round 0;"),
              std::string::npos)
        << log_of(job);
    EXPECT_EQ(json_of(run / "summary.json").at("resumed").at("finished"), true);
    const Json ledger = json_of(run / "ledger.json");
    expect_within_budget(ledger);
    EXPECT_EQ(ledger.at("rounds").at("accounted"), length);
}

TEST_F(SlurmJob, OfAnArrayHasADirectoryOfItsOwn) {
    const std::string job = submit({"-n", "3", "--array=1-2"}, training(100, {"--seed", "%a"}));
    for (const char* task : {"_1", "_2"}) {
        ASSERT_TRUE(comes_to(job + task, "COMPLETED"));
        const fs::path run = directory_of(job + task);
        EXPECT_EQ(json_of(run / "summary.json").at("rounds"), 100);
        EXPECT_NE(content_of(run / "config.ini").find(fmt::format("seed = {}\n", task + 1)),
                  std::string::npos)
            << content_of(run / "config.ini");
    }
    EXPECT_FALSE(fs::exists(directory_of(job)));
}

TEST_F(SlurmJob, NeedsTheFolderOfItsLogOnTheFirstNodeAndThatOfItsRunOnAll) {
    const auto submit_in = [](const std::string& folder, const Arguments& more) {
        Arguments words = on_nodes("3");
        words.insert(words.end(), more.begin(), more.end());
        words.insert(words.end(), {SOTTO_DEPLOY_DIR "/slurm", "--rounds", "20"});
        return std::to_string(cluster_->submit(words, folder));
    };
    // Slurm cannot even say so where the log would be.
    const std::string unwritten = submit_in("apart/none", {});
    EXPECT_TRUE(happens([&] { return cluster_->job(unwritten, "Reason") == "JobLaunchFailure"; }));

    const std::string apart = submit_in("apart/one", {"-o", *directory_ / "apart.log"});
    ASSERT_TRUE(happens([&] { return cluster_->job(apart, "JobState") == "FAILED"; }));
    EXPECT_EQ(cluster_->job(apart, "ExitCode"), "2:0");
    const std::string log = content_of(*directory_ / "apart.log");
    EXPECT_NE(log.find("slurm-" + apart + ": not seen from host3 host4; "), std::string::npos)
        << log;
}

TEST_F(SlurmJob, MayStartMpirunWhichFindsItsNodes) {
    Arguments words = on_nodes("3");
    std::string command = SOTTO_DEPLOY_DIR "/mpirun train --run-directory mpirun";
    for (const std::string& word : training(300)) command += " " + word;
    words.insert(words.end(), {"-o", "mpirun.log", "--wrap", command});
    const std::string job = std::to_string(cluster_->submit(words));
    const bool well = comes_to(job, "COMPLETED");
    const std::string log = content_of(*directory_ / "mpirun.log");
    ASSERT_TRUE(well) << log;
    EXPECT_NE(log.find("pairs, 6 agents, 300 rounds"), std::string::npos) << log;
    EXPECT_EQ(json_of(*directory_ / "mpirun/summary.json").at("agents"), agents);
}

}  // namespace
}  // namespace sotto::test
