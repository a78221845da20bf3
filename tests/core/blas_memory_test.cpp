#include "core/blas_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "core/linear_algebra.hpp"
#include "sotto/core/blas_kernels.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr rlim_t mebibyte = 1 << 20;

/// Allows so much address space beside what the process has.
void limit_address_space(rlim_t more_mebibytes) {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * 4096 + more_mebibytes * mebibyte;
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_AS, &limit);
}

TEST(BlasMemory, IsNotReservedWhereNothingIsLimited) {
    reserve_blas_memory();
    EXPECT_GT(most_blas_threads(), 1 << 20);
}

TEST(BlasMemory, ThatIsNotThereIsAnErrorAndNoWaitForEver) {
    if (blas_kernels().empty()) GTEST_SKIP() << "not OpenBLAS";
    EXPECT_EXIT(
        {
            limit_address_space(100);
            try {
                reserve_blas_memory();
            } catch (const Error& error) {
                std::fprintf(stderr, "%s", error.what());
                std::_Exit(static_cast<int>(error.exit_code()));
            }
            std::_Exit(0);
        },
        testing::ExitedWithCode(1),
        "out of memory: address space is limited to .* MiB .ulimit -v .*161 MiB");
}

TEST(BlasMemory, LimitsTheThreadsThatCompute) {
    if (blas_kernels().empty()) GTEST_SKIP() << "not OpenBLAS";
    EXPECT_EXIT(
        {
            end_blas_threads();
            limit_address_space(200);
            reserve_blas_memory();
            set_linear_algebra_threads(8);
            if (most_blas_threads() != 1 || linear_algebra_threads() != 1) std::_Exit(2);
            const Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(300, 300);
            std::_Exit(symmetric_eigenvalues(matrix)(0) == 1 ? 0 : 3);
        },
        testing::ExitedWithCode(0),
        "");
}

}  // namespace
}  // namespace sotto
