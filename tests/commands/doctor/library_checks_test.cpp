#include "commands/doctor/library_checks.hpp"

#include <gtest/gtest.h>

#include "sotto/core/blas_kernels.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/net/mpi_network.hpp"

namespace sotto {
namespace {

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
