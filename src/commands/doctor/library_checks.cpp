#include "commands/doctor/library_checks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <hwy/highway.h>
#include <sodium.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "sotto/core/blas_kernels.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/net/mpi_network.hpp"
#include "sotto/noise/normal_stream.hpp"

namespace sotto {

Finding check_program(const Placement&) {
    return {
        true,
        fmt::format("sotto {} (commit {}, {})", build_version(), build_commit(), build_compiler()),
        ""};
}

Finding check_mpi_library(const Placement&) {
    const std::string text = MpiSession::library_version();
    return {true, text.substr(0, text.find(", package:")), ""};
}

Finding check_eigen(const Placement&) {
    return {true,
            fmt::format("Eigen {}.{}.{} ({})",
                        EIGEN_WORLD_VERSION,
                        EIGEN_MAJOR_VERSION,
                        EIGEN_MINOR_VERSION,
                        Eigen::SimdInstructionSetsInUse()),
            ""};
}

Finding check_eigenvalues(const Placement&) {
    constexpr int n = 60;
    Eigen::MatrixXd laplacian = Eigen::MatrixXd::Zero(n, n);
    for (int i = 0; i + 1 < n; ++i) {
        laplacian(i, i) += 1;
        laplacian(i + 1, i + 1) += 1;
        laplacian(i, i + 1) = laplacian(i + 1, i) = -1;
    }
    const Eigen::VectorXd values = symmetric_eigenvalues(laplacian);
    double error = 0;
    for (int k = 0; k < n; ++k)
        error = std::max(error, std::abs(values(k) - (2 - 2 * std::cos(std::numbers::pi * k / n))));
    const std::string backend = eigen_backend();
    if (!(error < 1e-12))
        return {false,
                fmt::format("{} gives eigenvalues that are wrong by {:.1e}", backend, error),
                "reinstall libopenblas0, or choose another libblas.so.3 (update-alternatives)"};
    return {true,
            fmt::format("by {}, correct to {:.0e}", backend, error),
            backend == "LAPACK" ? ""
                                : "plans for more than 100 agents are faster with libopenblas-dev "
                                  "and liblapacke-dev installed before building"};
}

Finding check_blas_kernels(const Placement&) {
    const std::string kernels = blas_kernels();
    if (kernels.empty()) return {true, "no OpenBLAS in use", ""};
    const auto used = instructions_of_kernels(kernels), offered = processor_instructions();
    const std::string found = fmt::format(
        "OpenBLAS: {} kernels{}", kernels, used ? fmt::format(" ({})", name_of(*used)) : "");
    const auto newer = newer_kernels(kernels, offered);
    if (!newer) return {true, found, ""};
    return {true,
            fmt::format("{}; the processor has {}", found, name_of(*offered)),
            std::getenv("OPENBLAS_CORETYPE") != nullptr
                ? fmt::format("products are faster without OPENBLAS_CORETYPE, or with {}", *newer)
                : "products are faster with an OpenBLAS that has kernels for several processors "
                  "(libopenblas0-pthread)"};
}

Finding check_blas_threads(const Placement& placement) {
    using Count = int (*)();
    const auto count = reinterpret_cast<Count>(::dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
    if (count == nullptr) return {true, "no OpenBLAS in use", ""};
    const int threads = count(), cores = usable_cores(placement);
    const std::string found = fmt::format("OpenBLAS: {} a process", counted(threads, "thread"));
    if (threads > 1 && placement.ranks_on_host > 1 && threads * placement.ranks_on_host > cores)
        return {
            true,
            fmt::format(
                "{}, {} processes on {}", found, placement.ranks_on_host, counted(cores, "core")),
            "jobs start a little faster with OPENBLAS_NUM_THREADS=1 (mpirun -x "
            "OPENBLAS_NUM_THREADS=1)"};
    return {true, found, ""};
}

Finding check_libsodium(const Placement&) {
    try {
        ensure_sodium();
        const SecretKey key = SecretKey::random();
        if (key == SecretKey::random())
            return {false,
                    "the operating system gave the same key twice",
                    "do not train here: the system's random numbers are broken"};
    } catch (const Error& error) {
        return {false, error.what(), "is /dev/urandom there and readable?"};
    }
    return {true,
            fmt::format("libsodium {}, started; keys from the system", sodium_version_string()),
            ""};
}

Finding check_simd(const Placement&) {
    return {
        true,
        fmt::format(
            "Highway {}.{}.{}, {} in use", HWY_MAJOR, HWY_MINOR, HWY_PATCH, simd_levels().front()),
        ""};
}

Finding check_noise_bits(const Placement&) {
    std::array<std::uint8_t, SecretKey::size> key{};
    std::string first;
    for (const auto& level : simd_levels()) {
        force_simd_level(level);
        std::array<double, 10 * normal_block> normals{};
        NormalStream(SecretKey::from_bytes(key)).fill(1, 2, 0, normals);
        const std::string digest =
            to_hex(Hasher("sotto.doctor.v1").add(std::span<const double>(normals)).finish());
        if (first.empty()) first = digest;
        if (digest != first) {
            force_simd_level("");
            return {false,
                    level + " draws other noise than the best level",
                    "build sotto with its own compiler flags (no -ffast-math, no -mfma) on every "
                    "host"};
        }
    }
    force_simd_level("");
    return {true, fmt::format("test stream {}", first.substr(0, 16)), ""};
}

}  // namespace sotto
