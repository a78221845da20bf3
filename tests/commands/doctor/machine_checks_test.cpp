#include "commands/doctor/machine_checks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "commands/doctor/environment_fixture.hpp"
#include "commands/doctor/mpi_settings.hpp"

namespace sotto {
namespace {

using test::EnvironmentVariable;

constexpr const char* yield = "OMPI_MCA_mpi_yield_when_idle";

Placement of_ranks(int ranks) {
    Placement placement;
    placement.launched = true;
    placement.ranks_on_host = ranks;
    return placement;
}

TEST(MachineChecks, RanksShareCoresOnlyIfTheyYield) {
    EXPECT_EQ(check_cores({}).found,
              is_open_mpi() ? "1 core; mpirun needs --oversubscribe --bind-to none for more ranks"
                            : "1 core; the launcher starts more ranks without a flag");
    EXPECT_EQ(check_cores(of_ranks(1)).found, "1 rank on 1 core");
    {
        const EnvironmentVariable on(yield, "1");
        const Finding shared = check_cores(of_ranks(2));
        EXPECT_TRUE(shared.ok);
        EXPECT_EQ(shared.found, "2 ranks on 1 core: they take turns, waiting ranks yield");
    }
    if (!is_open_mpi()) GTEST_SKIP() << "a setting of Open MPI";
    const EnvironmentVariable off(yield, "0");
    const Finding spinning = check_cores(of_ranks(2));
    EXPECT_FALSE(spinning.ok);
    EXPECT_FALSE(spinning.fix.empty());
    EXPECT_TRUE(check_cores(of_ranks(1)).ok);
    EXPECT_NE(check_yielding({}).found.find("is off (0)"), std::string::npos);
}

TEST(MachineChecks, RootNeedsTwoVariablesToStartJobs) {
    if (::geteuid() != 0) {
        EXPECT_EQ(check_root({}).found, "not running as root");
        return;
    }
    if (!is_open_mpi()) GTEST_SKIP() << "a rule of Open MPI";
    const EnvironmentVariable allow("OMPI_ALLOW_RUN_AS_ROOT", "1");
    {
        const EnvironmentVariable confirm("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        EXPECT_TRUE(check_root({}).ok);
    }
    const EnvironmentVariable none("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", std::nullopt);
    EXPECT_FALSE(check_root({}).ok);
    EXPECT_TRUE(check_root(of_ranks(1)).ok) << "the job is there";
}

TEST(MachineChecks, SharedMemoryMustHoldASegmentARank) {
    if (!is_open_mpi()) GTEST_SKIP() << "a need of Open MPI";
    // 4 MiB each: more than any machine has.
    const Finding finding = check_shared_memory(of_ranks(1 << 28));
    EXPECT_FALSE(finding.ok);
    EXPECT_FALSE(finding.fix.empty());
}

TEST(MachineChecks, MemoryThatCannotBeLockedHasAFix) {
    const Finding finding = check_locked_memory({});
    EXPECT_NE(finding.found.find("256 KiB for 8128 keys"), std::string::npos);
    EXPECT_EQ(finding.fix.empty(), finding.ok);
    EXPECT_TRUE(check_leftover_segments({}).ok) << "leftovers are advice";
}

}  // namespace
}  // namespace sotto
