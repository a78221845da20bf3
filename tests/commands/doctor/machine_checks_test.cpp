#include "commands/doctor/machine_checks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "commands/doctor/environment_fixture.hpp"
#include "commands/doctor/launch_checks.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"
#include "net/mpi_network.hpp"
#include "sotto/core/blas_kernels.hpp"
#include "sotto/core/build_info.hpp"

namespace sotto {
namespace {

using test::EnvironmentVariable;
using test::TemporaryFolder;

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

namespace fs = std::filesystem;

TEST(FolderChecks, LeaveNothingBehind) {
    const TemporaryFolder folder;
    const fs::path path = folder.path("room");
    fs::create_directories(path);
    const Finding finding = check_writable(path, "make room");
    EXPECT_TRUE(finding.ok) << finding.found;
    EXPECT_EQ(finding.fix, "");
    EXPECT_TRUE(fs::is_empty(path));
    const Finding missing = check_writable(folder.path("missing"), "make room");
    EXPECT_FALSE(missing.ok);
    EXPECT_EQ(missing.fix, "make room");
    EXPECT_NE(missing.found.find("No such file"), std::string::npos) << missing.found;
}

TEST(FolderChecks, LookAtTheTemporaryFolderOfTheEnvironment) {
    const TemporaryFolder folder;
    const std::string file = folder.write("file", "");
    const EnvironmentVariable set("TMPDIR", file + "/tmp");
    const Finding finding = check_temporary_directory({});
    EXPECT_FALSE(finding.ok);
    EXPECT_TRUE(finding.found.starts_with(file + "/tmp cannot be written")) << finding.found;
    const EnvironmentVariable none("TMPDIR", std::nullopt);
    EXPECT_TRUE(check_temporary_directory({}).found.starts_with("/tmp "));
}

TEST(FolderChecks, MeasureSpace) {
    EXPECT_FALSE(free_mib("/no/such/folder"));
    EXPECT_TRUE(free_mib("/"));
    EXPECT_EQ(size_text(512), "512 MiB");
    EXPECT_EQ(size_text(10 * 1024), "10 GiB");
    EXPECT_EQ(size_text(2047.6), "2048 MiB");
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(LibraryChecks, PassOnTheMachineThatRunsTheTests) {
    for (const auto check : {check_eigen, check_eigenvalues, check_libsodium, check_simd}) {
        const Finding finding = check({});
        EXPECT_TRUE(finding.ok) << finding.found;
        EXPECT_FALSE(finding.found.empty());
    }
}

TEST(LibraryChecks, SayWhatIsUsed) {
    EXPECT_TRUE(contains(check_program({}).found, build_version()));
    const std::string library = check_mpi_library({}).found;
    EXPECT_TRUE(MpiSession::library_version().starts_with(library));
    EXPECT_FALSE(library.empty());
    EXPECT_TRUE(contains(check_eigenvalues({}).found, "correct to"));
}

TEST(LibraryChecks, DrawTheSameBitsEveryTime) {
    const Finding first = check_noise_bits({}), again = check_noise_bits({});
    EXPECT_TRUE(first.ok) << first.found;
    EXPECT_EQ(first.found, again.found);
    EXPECT_TRUE(first.found.starts_with("test stream "));
}

TEST(LibraryChecks, NameTheKernelsOfBlasAndAdviseNewerOnes) {
    const std::string before = blas_kernels();
    const auto newer = newer_kernels("Prescott", processor_instructions());
    if (before.empty() || !newer || !set_blas_kernels("Prescott"))
        GTEST_SKIP() << "no OpenBLAS with kernels for several processors, or an old processor";
    const Finding old = check_blas_kernels({});
    set_blas_kernels(*newer);
    const Finding chosen = check_blas_kernels({});
    set_blas_kernels(before);
    EXPECT_TRUE(old.ok);
    EXPECT_TRUE(contains(old.found, "Prescott kernels (SSE); the processor has ")) << old.found;
    EXPECT_TRUE(contains(old.fix, "products are faster")) << old.fix;
    EXPECT_FALSE(contains(chosen.found, "the processor has")) << chosen.found;
    EXPECT_EQ(chosen.fix, "");
}

TEST(LibraryChecks, AdviseFewerThreadsOnlyWhereProcessesShareCores) {
    Placement crowded;
    crowded.ranks_on_host = 1000;
    crowded.cores_on_host = 1;
    const Finding finding = check_blas_threads(crowded);
    EXPECT_TRUE(finding.ok);
    // With one thread a process there is nothing to advise.
    EXPECT_EQ(finding.fix.empty(), !contains(finding.found, "processes on 1 core"));
    EXPECT_EQ(check_blas_threads({}).fix, "");
}

}  // namespace
}  // namespace sotto
