#include "commands/doctor/mpi_settings.hpp"

#include <gtest/gtest.h>

#include "commands/doctor/environment_fixture.hpp"
#include "sotto/net/mpi_network.hpp"

namespace sotto {
namespace {

using test::EnvironmentVariable;

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
