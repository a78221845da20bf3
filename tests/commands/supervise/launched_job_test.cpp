#include "commands/supervise/launched_job.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "commands/supervise/stop_requests.hpp"
#include "core/temporary_folder.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/net/launch_environment.hpp"

namespace sotto::cli {
namespace {

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
    EXPECT_NE(errors_.find("stopping; once more ends it at once"), std::string::npos) << errors_;
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

}  // namespace
}  // namespace sotto::cli
