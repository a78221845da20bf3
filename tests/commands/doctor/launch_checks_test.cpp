#include "commands/doctor/launch_checks.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "commands/doctor/environment_fixture.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"
#include "net/mpi_network.hpp"

namespace sotto {
namespace {

using test::EnvironmentVariable;
using test::TemporaryFolder;

/// PATH with a launcher that is this script, before what a shell needs.
std::string path_with(const TemporaryFolder& folder, const std::string& text) {
    const std::string file =
        folder.write(launch_words().launchers.front(), "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return folder.path("") + ":/usr/bin:/bin";
}

TEST(LaunchChecks, NeedAnMpirunInThePath) {
    const EnvironmentVariable none("PATH", "/nonexistent");
    EXPECT_FALSE(check_mpirun().ok);
    EXPECT_EQ(check_mpirun().name, "launcher");
    const DoctorCheck trial = check_trial_job();
    EXPECT_FALSE(trial.ok);
    EXPECT_EQ(trial.found, "not tried: there is no mpirun");
}

TEST(LaunchChecks, RefuseAnMpirunOfAnotherVersion) {
    const TemporaryFolder folder;
    const EnvironmentVariable set("PATH", path_with(folder, "echo 'mpirun (Open MPI) 1.0.1'"));
    const DoctorCheck check = check_mpirun();
    EXPECT_FALSE(check.ok);
    EXPECT_NE(check.found.find("mpirun (Open MPI) 1.0.1"), std::string::npos) << check.found;
}

TEST(LaunchChecks, SayHowJobsAreStartedUnderTheRightLauncher) {
    const TemporaryFolder folder;
    const std::string library = MpiSession::library_version();
    const EnvironmentVariable set("PATH", path_with(folder, "echo '" + library + "'"));
    const DoctorCheck check = check_mpirun();
    EXPECT_TRUE(check.ok) << check.found;
    EXPECT_EQ(check.fix, launch_words().start);
    EXPECT_TRUE(check.found.starts_with(folder.path(launch_words().launchers.front())))
        << check.found;
}

TEST(LaunchChecks, SayWhatATrialJobSaid) {
    const TemporaryFolder folder;
    const auto trial = [&](const std::string& text) {
        const EnvironmentVariable set("PATH", path_with(folder, text));
        return check_trial_job();
    };
    EXPECT_EQ(trial("echo ---- >&2; echo 'no slots' >&2; exit 9").found,
              "a trial job of 2 ranks failed (exit code 9): no slots");
    EXPECT_EQ(trial("echo '{\"ranks\": 1}'").found,
              "a trial job of 2 ranks came up as single processes of 1 rank");
    EXPECT_EQ(trial("echo '{\"ranks\": 2, \"checks\": []}'").found,
              "the trial job made another report");
    const DoctorCheck good = trial(
        "echo '{\"ranks\": 2, \"checks\": [{\"name\": \"exchange\", \"ok\": true, \"found\": "
        "\"fine\", \"fix\": \"\"}]}'");
    EXPECT_TRUE(good.ok);
    EXPECT_EQ(good.found, "trial job: fine");
}

TEST(MpiSettings, RanksYieldUnlessTheEnvironmentSaysNo) {
    constexpr const char* name = "OMPI_MCA_mpi_yield_when_idle";
    for (const char* value : {"0", "false", "no", "f", "n", "off", "disabled"}) {
        const EnvironmentVariable set(name, value);
        EXPECT_FALSE(waiting_ranks_yield()) << value;
    }
    for (const char* value : {"", "1", "true", "yes"}) {
        const EnvironmentVariable set(name, value);
        EXPECT_TRUE(waiting_ranks_yield()) << value;
    }
    const EnvironmentVariable none(name, std::nullopt);
    EXPECT_TRUE(waiting_ranks_yield());
    EXPECT_EQ(environment(name), "");
}

TEST(MpiSettings, KnowOpenMpiByItsName) {
    EXPECT_TRUE(is_open_mpi("mpirun (Open MPI) 4.1.4"));
    EXPECT_FALSE(is_open_mpi("HYDRA build details: Version 4.0.2"));
    EXPECT_EQ(is_open_mpi(), is_open_mpi(MpiSession::library_version()));
}

TEST(MpiSettings, JobsAreStartedAsTheLibraryNeedsIt) {
    const LaunchWords& open_mpi = launch_words("Open MPI v4.1.4");
    EXPECT_EQ(open_mpi.launchers.front(), "mpirun");
    EXPECT_NE(open_mpi.start.find(open_mpi.oversubscribe), std::string::npos) << open_mpi.start;
    EXPECT_NE(open_mpi.start.find(open_mpi.network), std::string::npos) << open_mpi.start;
    for (const char* library : {"MPICH Version: 4.0.2", "Intel(R) MPI Library 2021.5"}) {
        const LaunchWords& hydra = launch_words(library);
        EXPECT_EQ(hydra.launchers.front(), "mpiexec.hydra");
        EXPECT_EQ(hydra.oversubscribe, "");
        EXPECT_NE(hydra.start.find(hydra.network), std::string::npos) << hydra.start;
        EXPECT_EQ(hydra.start.find("mca"), std::string::npos) << "a word of Open MPI";
    }
    EXPECT_EQ(&launch_words(), &launch_words(MpiSession::library_version()));
}

}  // namespace
}  // namespace sotto
