#include "commands/supervise/launched_job.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "core/files.hpp"
#include "core/stopwatch.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "net/mpi_session.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

using test::message_of;
using test::TemporaryFolder;

/// A launcher that is a shell script.
class LaunchedScript : public testing::Test {
  protected:
    void SetUp() override {
        forget_stop_requests();
        count_stop_requests();
    }
    void TearDown() override {
        forget_stop_requests();
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) std::signal(number, SIG_DFL);
    }
    [[nodiscard]] int run(const std::string& script, int kill_seconds = 0) {
        testing::internal::CaptureStderr();
        const auto start = Clock::now();
        const int code =
            run_launcher({"sh", "-c", script}, {kill_seconds, folder_.path(""), false});
        seconds_ = seconds_since(start);
        errors_ = testing::internal::GetCapturedStderr();
        return code;
    }

    test::TemporaryFolder folder_;
    std::string errors_;
    double seconds_ = 0;
};

TEST_F(LaunchedScript, EndsWithTheLaunchersCodeAndPassesErrorsOn) {
    EXPECT_EQ(run("echo one >&2; printf two >&2; exit 9"), 9);
    EXPECT_EQ(errors_, "one\ntwo");
    EXPECT_EQ(run("kill -KILL $$"), 128 + SIGKILL);
}

TEST_F(LaunchedScript, CrashesAfterAnAbortWithTheCodeOfTheRankThatEndedIt) {
    EXPECT_EQ(run("echo 'with errorcode 9.' >&2; kill -SEGV $$"), 9);
    EXPECT_EQ(run("echo 'with errorcode 9.' >&2; exit 3"), 3) << "it did not crash";
    EXPECT_EQ(run("echo 'the job has been aborted.' >&2; echo '  Exit code:    8' >&2; "
                  "kill -USR1 $$"),
              8);
    EXPECT_EQ(run("echo 'mpiexec: Forwarding signal 10 to job' >&2; exit 8"), 8);
    EXPECT_EQ(errors_, "");
}

TEST_F(LaunchedScript, IsEndedWhereItWaitsForALostHost) {
    EXPECT_EQ(run("echo 'with errorcode 4.' >&2; exec sleep 60"), 4);
    EXPECT_NE(errors_.find("a host does not answer"), std::string::npos) << errors_;
    EXPECT_EQ(run("echo 'The job has been aborted. Also: the job has been aborted.' >&2; "
                  "exec sleep 60"),
              5);
    EXPECT_LT(seconds_, 40);
}

/// What a rank says under mpirun and a supervisor, as printf takes it.
std::string announcement_of(int status) {
    setenv("OMPI_MCA_orte_hnp_uri", "1803288576.0;tcp://192.0.2.2:54397", 1);
    setenv("SOTTO_STOPS_IN_TIME", "1", 1);
    const std::string said = end_announcement(status);
    unsetenv("OMPI_MCA_orte_hnp_uri");
    unsetenv("SOTTO_STOPS_IN_TIME");
    return said.substr(0, said.size() - 1) + "\\n";
}

TEST_F(LaunchedScript, LosesNoWordsOfARankBesideAnothersThatItEndsTheJob) {
    EXPECT_EQ(run("printf 'words of another, " + announcement_of(6) + "' >&2; exit 6"), 6);
    EXPECT_TRUE(errors_.starts_with("words of another, ")) << errors_;
}

TEST_F(LaunchedScript, IsEndedWhereOnlyARankSaysThatItEndsTheJob) {
    EXPECT_EQ(run("echo before >&2; printf '" + announcement_of(6) +
                  "' >&2; echo after >&2; exec sleep 60"),
              6);
    EXPECT_TRUE(errors_.starts_with("before\nafter\n")) << errors_;
    EXPECT_NE(errors_.find("a host does not answer"), std::string::npos) << errors_;
    EXPECT_LT(seconds_, 40);
}

TEST_F(LaunchedScript, IsToldToStopAndMayTakeItsTime) {
    std::thread asks([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        ::kill(::getpid(), SIGINT);
    });
    // Asked every second, it would begin anew each time.
    EXPECT_EQ(run("trap 'trap \"\" USR1; sleep 1; exit 8' USR1; while :; do sleep 0.1; done"), 8);
    asks.join();
    EXPECT_NE(errors_.find("stopping; a second signal ends the job at once"), std::string::npos)
        << errors_;
}

TEST_F(LaunchedScript, IsToldNoMoreToStopOnceItsJobIsAborted) {
    std::thread asks([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        ::kill(::getpid(), SIGTERM);
    });
    // The way of mpirun: it forgets its handlers while it ends.
    EXPECT_EQ(run("trap 'echo the job has been aborted. >&2; echo \"  Exit code:    8\" >&2; "
                  "trap - USR1; sleep 3; exit 8' USR1; while :; do sleep 0.1; done",
                  5),
              8)
        << errors_;
    asks.join();
}

TEST_F(LaunchedScript, IsEndedByASecondRequest) {
    std::thread asks([] {
        for (int i = 0; i < 2; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(700));
            ::kill(::getpid(), SIGINT);
        }
    });
    EXPECT_EQ(run("trap '' USR1; while :; do sleep 0.1; done"), 128 + SIGINT);
    asks.join();
}

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

using Words = std::vector<std::string>;

const Words known_commands{"doctor", "train"};

TEST(LauncherWords, AreTakenApartAndPutTogether) {
    const LauncherWords words = parse_launcher({"/opt/mpirun",
                                                "-x",
                                                "A",
                                                "-np",
                                                "4",
                                                "--mca",
                                                "plm_rsh_agent",
                                                "rsh -q",
                                                "--mca",
                                                "odls_base_sigkill_timeout",
                                                "7",
                                                "--host",
                                                "b:2,a:2",
                                                "sotto",
                                                "train",
                                                "-n",
                                                "1"},
                                               known_commands);
    EXPECT_TRUE(words.is_mpirun());
    EXPECT_EQ(words.ranks, 4);
    EXPECT_EQ(words.remote_shell, "rsh -q");
    EXPECT_EQ(words.kill_seconds, 7);
    EXPECT_FALSE(words.names_network);
    EXPECT_EQ(words.program, "sotto");
    EXPECT_EQ(words.sotto, (Words{"train", "-n", "1"}));
    EXPECT_EQ(named_hosts(words), (Words{"a", "b"}));
    EXPECT_EQ(composed(words, {"--more"}),
              (Words{"/opt/mpirun",
                     "-n",
                     "4",
                     "-x",
                     "A",
                     "--mca",
                     "plm_rsh_agent",
                     "rsh -q",
                     "--mca",
                     "odls_base_sigkill_timeout",
                     "7",
                     "--host",
                     "b:2,a:2",
                     "-x",
                     "SOTTO_STOPS_IN_TIME",
                     "--more",
                     "sotto",
                     "train",
                     "-n",
                     "1"}));
}

TEST(LauncherWords, NeedNoLauncherAndKnowOthersThanMpirun) {
    const LauncherWords alone = parse_launcher({"sotto", "train"}, known_commands);
    EXPECT_TRUE(alone.launcher.empty());
    EXPECT_FALSE(alone.is_mpirun());
    EXPECT_EQ(composed(alone, {"--output-filename", "logs"}), (Words{"sotto", "train"}));
    const LauncherWords slurm =
        parse_launcher({"srun", "-n", "2", "sotto", "train"}, known_commands);
    EXPECT_FALSE(slurm.is_mpirun());
    EXPECT_EQ(composed(slurm), (Words{"srun", "-n", "2", "sotto", "train"}));
}

TEST(LauncherWords, TakeSettingsOfTheEnvironmentThatTheyLeaveOpen) {
    ::setenv("OMPI_MCA_odls_base_sigkill_timeout", "9", 1);
    ::setenv("OMPI_MCA_btl_tcp_if_include", "eth0", 1);
    const LauncherWords words = parse_launcher({"mpirun", "sotto", "train"}, known_commands);
    const LauncherWords given = parse_launcher(
        {"mpirun", "-mca", "odls_base_sigkill_timeout", "2", "sotto", "train"}, known_commands);
    ::unsetenv("OMPI_MCA_odls_base_sigkill_timeout");
    ::unsetenv("OMPI_MCA_btl_tcp_if_include");
    EXPECT_EQ(words.kill_seconds, 9);
    EXPECT_TRUE(words.names_network);
    EXPECT_EQ(given.kill_seconds, 2);
}

TEST(LauncherWords, AreRefusedInOneLine) {
    const auto refusal = [](const Words& words) {
        return message_of<ConfigError>([&] { (void)parse_launcher(words, known_commands); });
    };
    EXPECT_NE(refusal({}).find("is missing after --"), std::string::npos);
    EXPECT_NE(refusal({"mpirun", "-n", "2", "sotto"}).find("is missing"), std::string::npos);
    EXPECT_NE(refusal({"train"}).find("is missing"), std::string::npos);
    EXPECT_NE(refusal({"mpirun", "-n", "two", "sotto", "train"}).find("'two'"), std::string::npos);
    EXPECT_NE(refusal({"mpirun", "-n", "0", "sotto", "train"}).find("'0'"), std::string::npos);
    EXPECT_NE(refusal({"mpirun", "sotto", "train", ":", "sotto", "train"}).find("':'"),
              std::string::npos);
}

TEST(LauncherWords, LeaveHostsOut) {
    const TemporaryFolder folder;
    const std::string file = folder.write("hosts", "# two\na slots=2\nb slots=1 # last\n\n");
    LauncherWords words =
        parse_launcher({"mpirun", "--hostfile", file, "sotto", "train"}, known_commands);
    EXPECT_EQ(named_hosts(words), (Words{"a", "b"}));
    leave_out(words, {"a"}, folder.path("shorter"));
    EXPECT_EQ(words.hostfile, folder.path("shorter"));
    EXPECT_EQ(read_file(folder.path("shorter")), "b slots=1 # last\n");
    EXPECT_EQ(named_hosts(words), Words{"b"});

    words = parse_launcher({"mpirun", "-H", "a:2,b,c:1", "sotto", "train"}, known_commands);
    leave_out(words, {"b"}, folder.path("none"));
    EXPECT_EQ(words.hosts, "a:2,c:1");
}

using Words = std::vector<std::string>;

TEST(TrainWords, KeepAllButWhoLeaves) {
    const TrainWords words = read_train_words({"--resume",
                                               "runs/a",
                                               "--without",
                                               "3,1",
                                               "--quiet",
                                               "--json",
                                               "out.json",
                                               "--checkpoint-every=50"});
    EXPECT_EQ(
        words.options,
        (Words{"--resume", "runs/a", "--quiet", "--json", "out.json", "--checkpoint-every=50"}));
    EXPECT_EQ(words.without, (std::vector<int>{1, 3}));
    EXPECT_EQ(words.beside, (Words{"--json=out.json", "--quiet"}));
    EXPECT_EQ(words.resume, "runs/a");
    EXPECT_FALSE(words.directory);
    EXPECT_TRUE(words.has_interval);
    EXPECT_FALSE(words.dry_run);
    EXPECT_EQ(without_words(words.without), (Words{"--without", "1,3"}));
    EXPECT_TRUE(without_words({}).empty());
}

TEST(TrainWords, AreReadFromAFileToo) {
    const test::TemporaryFolder folder;
    const std::string file =
        folder.write("my.ini", "run-directory = runs/b\ncheckpoint-every = 10\ndry-run = true\n");
    const TrainWords words = read_train_words({"--config", file});
    EXPECT_EQ(words.directory, "runs/b");
    EXPECT_TRUE(words.has_interval);
    EXPECT_TRUE(words.dry_run);
    EXPECT_EQ(words.options, (Words{"--config", file}));
}

TEST(TrainWords, ThatDoNotExistAreRefused) {
    EXPECT_THROW((void)read_train_words({"--epsilom", "3"}), ConfigError);
}

TEST(StopRequests, AreCountedAndTheFirstIsKept) {
    forget_stop_requests();
    count_stop_requests();
    EXPECT_EQ(stop_requests(), 0);
    std::raise(SIGTERM);
    std::raise(SIGINT);
    EXPECT_EQ(stop_requests(), 2);
    EXPECT_EQ(first_stop_signal(), SIGTERM);
    const auto start = Clock::now();
    pause_unless_stopped(60);
    EXPECT_LT(seconds_since(start), 30);
    forget_stop_requests();
    EXPECT_EQ(stop_requests(), 0);
    EXPECT_EQ(first_stop_signal(), 0);
    pause_unless_stopped(0.01);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) std::signal(number, SIG_DFL);
}

TEST(StopRequests, OfAHangUpUnderNohupAreNone) {
    EXPECT_EXIT(
        {
            std::signal(SIGHUP, SIG_IGN);
            count_stop_requests();
            std::raise(SIGHUP);
            std::_Exit(stop_requests());
        },
        testing::ExitedWithCode(0),
        "");
}

}  // namespace
}  // namespace sotto::cli
