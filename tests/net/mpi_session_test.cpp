#include "net/mpi_session.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

/// Clears the launcher's variables for one test and puts them back.
class LaunchEnvironmentTest : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* name : {"OMPI_COMM_WORLD_SIZE",
                                 "OMPI_COMM_WORLD_RANK",
                                 "PMI_SIZE",
                                 "PMI_RANK",
                                 "PMIX_NAMESPACE",
                                 "PMIX_RANK",
                                 "OMPI_MCA_orte_hnp_uri",
                                 "OMPI_MCA_odls_base_sigkill_timeout",
                                 "SOTTO_STOPS_IN_TIME",
                                 "SLURM_STEP_ID",
                                 "SLURM_STEP_NUM_TASKS",
                                 "SLURM_NTASKS",
                                 "SLURM_PROCID"}) {
            const char* value = std::getenv(name);
            before_[name] = value != nullptr ? std::optional<std::string>(value) : std::nullopt;
            unsetenv(name);
        }
    }
    void TearDown() override {
        for (const auto& [name, value] : before_)
            if (value)
                setenv(name.c_str(), value->c_str(), 1);
            else
                unsetenv(name.c_str());
    }
    static void set(const char* name, const char* value) { setenv(name, value, 1); }
    static void expect(bool launched, int ranks, int rank) {
        const LaunchEnvironment launch = launch_environment();
        EXPECT_EQ(launch.launched, launched);
        EXPECT_EQ(launch.ranks, ranks);
        EXPECT_EQ(launch.rank, rank);
    }

  private:
    std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(LaunchEnvironmentTest, APlainShellLaunchesNothing) { expect(false, 1, 0); }

TEST_F(LaunchEnvironmentTest, OpenMpiIsRecognised) {
    set("OMPI_COMM_WORLD_SIZE", "20");
    set("OMPI_COMM_WORLD_RANK", "7");
    expect(true, 20, 7);
}

TEST_F(LaunchEnvironmentTest, HydraIsRecognised) {
    set("PMI_SIZE", "4");
    set("PMI_RANK", "3");
    expect(true, 4, 3);
}

TEST_F(LaunchEnvironmentTest, SrunIsRecognisedByItsStep) {
    set("SLURM_NTASKS", "8");
    set("SLURM_PROCID", "5");
    expect(false, 1, 0);  // an allocation, or its batch script
    set("SLURM_STEP_ID", "0");
    expect(true, 8, 5);
    set("SLURM_STEP_NUM_TASKS", "6");  // a step smaller than the allocation
    expect(true, 6, 5);
}

TEST_F(LaunchEnvironmentTest, AnInteractiveShellStepIsNoLaunch) {
    set("SLURM_NTASKS", "8");
    set("SLURM_STEP_NUM_TASKS", "1");
    set("SLURM_STEP_ID", "4294967290");
    set("SLURM_PROCID", "0");
    expect(false, 1, 0);
}

TEST_F(LaunchEnvironmentTest, MpirunInsideASlurmJobWins) {
    set("SLURM_STEP_ID", "0");
    set("SLURM_NTASKS", "2");
    set("SLURM_PROCID", "1");
    set("OMPI_COMM_WORLD_SIZE", "40");
    set("OMPI_COMM_WORLD_RANK", "39");
    expect(true, 40, 39);
}

TEST_F(LaunchEnvironmentTest, PmixWithoutASizeIsALaunchOfUnknownSize) {
    set("PMIX_RANK", "2");
    expect(true, 1, 2);
}

TEST_F(LaunchEnvironmentTest, ValuesThatAreNoNumbersAreIgnored) {
    set("OMPI_COMM_WORLD_SIZE", "many");
    set("OMPI_COMM_WORLD_RANK", "0");
    expect(false, 1, 0);
    set("OMPI_COMM_WORLD_SIZE", "4x");
    expect(false, 1, 0);
    set("OMPI_COMM_WORLD_SIZE", "-4");
    expect(false, 1, 0);
}

TEST_F(LaunchEnvironmentTest, TasksOfSrunThatCannotFindEachOtherAreRefused) {
    EXPECT_NO_THROW(require_connected_tasks());
    set("SLURM_STEP_ID", "0");
    set("SLURM_STEP_NUM_TASKS", "4");
    set("SLURM_PROCID", "2");
    EXPECT_EQ(test::message_of<NetworkError>([] {
                  require_connected_tasks();
              }).find("srun started 4 tasks without PMIx"),
              0U);
    set("PMI_RANK", "2");
    EXPECT_NO_THROW(require_connected_tasks());
}

TEST_F(LaunchEnvironmentTest, OnlyOpenMpisMpirunKillsSoon) {
    EXPECT_EQ(seconds_before_kill(), std::nullopt);
    set("OMPI_MCA_odls_base_sigkill_timeout", "7");
    EXPECT_EQ(seconds_before_kill(), std::nullopt);
    set("OMPI_MCA_orte_hnp_uri", "1803288576.0;tcp://192.0.2.2:54397");
    EXPECT_EQ(seconds_before_kill(), 7);
    for (const char* other : {"", "-1", "soon"}) {
        set("OMPI_MCA_odls_base_sigkill_timeout", other);
        EXPECT_EQ(seconds_before_kill(), 1) << other;
    }
    set("SOTTO_STOPS_IN_TIME", "1");
    EXPECT_EQ(seconds_before_kill(), std::nullopt);
}

TEST_F(LaunchEnvironmentTest, TheEndOfAJobIsAnnouncedToASupervisorOfMpirun) {
    EXPECT_EQ(end_announcement(5), "");
    set("SOTTO_STOPS_IN_TIME", "1");
    EXPECT_EQ(end_announcement(5), "") << "srun may take longer to end a job";
    set("OMPI_MCA_orte_hnp_uri", "1803288576.0;tcp://192.0.2.2:54397");
    const std::string said = end_announcement(5);
    EXPECT_TRUE(said.ends_with(".\n")) << said;
    EXPECT_EQ(announced_end(said), 5);
    EXPECT_EQ(announced_end("[1,2]<stderr>:" + said), 5) << "mpirun --tag-output";
    EXPECT_EQ(announced_end(end_announcement(205)), 205);
    EXPECT_EQ(announced_end(end_announcement(256)), std::nullopt);
    EXPECT_EQ(announced_end(said.substr(0, said.size() - 2)), std::nullopt) << "cut off";
    EXPECT_EQ(announced_end("with errorcode 5.\n"), std::nullopt);
}

TEST(FailureStatus, IsNeverZero) {
    EXPECT_EQ(failure_status(ExitCode::ok), 1);
    EXPECT_EQ(failure_status(ExitCode::other), 1);
    EXPECT_EQ(failure_status(ExitCode::audit), 6);
}

TEST(FlushOutputDeathTest, SavesWhatAnAbruptEndWouldLose) {
    const auto end = [](bool flushed) {
        static std::array<char, 4096> buffer;  // one of its own: glibc keeps one that was in use
        std::setvbuf(stderr, buffer.data(), _IOFBF, buffer.size());
        std::fputs("not yet written", stderr);
        if (flushed) flush_output();
        std::_Exit(3);
    };
    EXPECT_EXIT(end(true), testing::ExitedWithCode(3), "not yet written");
    EXPECT_EXIT(end(false), testing::ExitedWithCode(3), "^$");
}

}  // namespace
}  // namespace sotto
