// deploy/mpirun on one host.

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "hosts.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;

class LaunchScript : public testing::Test {
  protected:
    [[nodiscard]] Outcome run(const Arguments& arguments, const Arguments& environment = {}) const {
        return Process(launch_script(arguments, environment), directory_.path()).wait();
    }
    /// @param who says so.
    void expect_refused(const Outcome& outcome,
                        const std::string& part,
                        const std::string& who = "deploy/mpirun: ") const {
        EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
        const auto lines = lines_of(outcome.err);
        ASSERT_EQ(lines.size(), 1U) << outcome.text();
        EXPECT_EQ(lines[0].find(who), 0U) << outcome.text();
        EXPECT_NE(lines[0].find(part), std::string::npos) << outcome.text();
    }
    /// A PATH of which every program but mpirun can be found.
    [[nodiscard]] std::string path_without_mpirun() const {
        const fs::path folder = directory_ / "bin";
        fs::create_directory(folder);
        for (const char* program : {"bash", "dirname", "id", "env", "sed"})
            for (const char* place : {"/usr/bin/", "/bin/"})
                if (fs::exists(std::string(place) + program)) {
                    fs::create_symlink(std::string(place) + program, folder / program);
                    break;
                }
        return folder;
    }
    /// With a file of hosts mpi_hosts in the checkout it would be used.
    [[nodiscard]] std::string this_host() const {
        return directory_.write("here", "# this machine\nlocalhost slots=64  # plenty\n");
    }

    TempDir directory_;
};

TEST_F(LaunchScript, StartsMoreRanksThanSlotsInTheCallersFolder) {
    (void)directory_.write("data.svm", small_data(60));
    (void)directory_.write("few", "localhost slots=2\n");
    const Outcome outcome = run({"-n",
                                 "3",
                                 "--hostfile",
                                 "few",
                                 "train",
                                 "--data",
                                 "data.svm",
                                 "--rounds",
                                 "10",
                                 "--quiet",
                                 "--json",
                                 "summary.json",
                                 "--run-directory",
                                 "run"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(json_of(directory_ / "summary.json").at("agents"), 3);
    EXPECT_EQ(outcome.out, "");
    const auto lines = lines_of(outcome.err);
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines[0].find("+ mpirun "), 0U) << outcome.text();
    EXPECT_NE(lines[0].find("--oversubscribe"), std::string::npos) << outcome.text();
}

TEST_F(LaunchScript, DoesNotOversubscribeWhereSlotsSuffice) {
    const Outcome outcome = run({"--hostfile", this_host(), "-n", "3", "--", "doctor", "--quiet"});
    EXPECT_EQ(outcome.err.find("--oversubscribe"), std::string::npos) << outcome.text();
    EXPECT_EQ(outcome.err.find("+ mpirun "), 0U) << outcome.text();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
}

TEST_F(LaunchScript, PassesTheExitCodeOn) {
    const Outcome outcome =
        run({"-n", "2", "--hostfile", this_host(), "train", "--data", "missing.svm"});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.text();
    EXPECT_EQ(error_lines(outcome.err).size(), 1U) << outcome.text();
}

TEST_F(LaunchScript, StopsCleanlyHoweverLongARankTakes) {
    const std::string data = directory_.write("data.svm", small_data(60));
    const std::string folder = directory_ / "run";
    Process process(launch_script({"-n",
                                   "3",
                                   "--hostfile",
                                   this_host(),
                                   "train",
                                   "--data",
                                   data,
                                   "--rounds",
                                   "100000000000",
                                   "--eval-every",
                                   "100",
                                   "--run-directory",
                                   folder}),
                    directory_.path());
    ASSERT_TRUE(happens([&] { return lines_of(content_of(folder + "/metrics.csv")).size() > 2; }));
    const auto pids = ranks_with(folder);
    ASSERT_EQ(pids.size(), 3U);
    ::kill(pids.back(),
           SIGSTOP);  // its round takes longer than mpirun gives after a signal of its own
    process.signal_group(SIGINT);
    std::this_thread::sleep_for(std::chrono::seconds(4));
    ::kill(pids.back(), SIGCONT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 8) << outcome.text();
    EXPECT_NE(outcome.out.find("INTERRUPTED"), std::string::npos) << outcome.text();
    EXPECT_EQ(json_of(folder + "/ledger.json").at("status"), "interrupted");
    EXPECT_EQ(outcome.err.find("Forwarding signal"), std::string::npos) << outcome.text();
    EXPECT_EQ(outcome.err.find("Ctrl-C would lose"), std::string::npos) << outcome.text();
}

TEST_F(LaunchScript, RefusesInOneLine) {
    expect_refused(run({"-n", "2"}), "a command of sotto is missing");
    expect_refused(run({"-n", "two", "train"}), "'two' is not a number of ranks");
    expect_refused(run({"-n"}), "-n needs a value");
    expect_refused(run({"--hostfile", "nowhere", "train"}), "nowhere cannot be read");
    expect_refused(run({"--max-restarts", "x", "train"}), "max-restarts: 'x'", "sotto: ");
    expect_refused(
        run({"--max-restarts", "3", "doctor"}), "only a training can be resumed", "sotto: ");
    expect_refused(
        run({"--max-restarts", "3", "--restart-delay", "5", "train"}), "FIRST:MOST", "sotto: ");
    expect_refused(run({"-n", "2", "train"}, {"SOTTO_PROGRAM=/nowhere/sotto"}), "/nowhere/sotto");
    expect_refused(run({"-n", "2", "train"}, {"PATH=" + path_without_mpirun()}),
                   "there is no mpirun");
}

}  // namespace
}  // namespace sotto::test
