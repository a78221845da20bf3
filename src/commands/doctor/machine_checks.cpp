#include "commands/doctor/machine_checks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <hwy/highway.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "commands/doctor/launch_checks.hpp"
#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "net/mpi_network.hpp"
#include "noise/normal_stream.hpp"
#include "sotto/core/blas_kernels.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

/// Open MPI's shared memory per rank (btl_vader_segment_size).
constexpr double segment_mib = 4;
/// Ranks to expect if their number is unknown: the default of --agents.
constexpr int usual_ranks = 20;
/// Guarded memory for 8128 secret keys, 127 in a page of 4 KiB.
constexpr std::size_t locked_bytes = 256 * 1024;
/// A starting job makes its files before it maps them.
constexpr std::time_t starting_seconds = 60;

/// Whether a process that this user may see has mapped a file of /dev/shm.
bool in_use(const std::string& path) {
    std::error_code failure;
    for (const auto& process : fs::directory_iterator("/proc", failure)) {
        const std::string name = process.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream maps(process.path() / "maps");
        for (std::string line; std::getline(maps, line);)
            if (line.ends_with(path)) return true;
    }
    return false;
}

bool can_lock(std::size_t bytes) {
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    const bool locked = ::mlock(memory, bytes) == 0;
    ::munmap(memory, bytes);
    return locked;
}

}  // namespace

Finding check_root(const Placement& placement) {
    if (::geteuid() != 0) return {true, "not running as root", ""};
    if (!is_open_mpi() || placement.launched) return {true, "running as root", ""};
    if (environment("OMPI_ALLOW_RUN_AS_ROOT") == "1" &&
        environment("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") == "1")
        return {true, "running as root, and mpirun is told to allow it", ""};
    return {false,
            "running as root, which mpirun refuses",
            "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, or use another "
            "account"};
}

Finding check_cores(const Placement& placement) {
    const int cores = usable_cores(placement), ranks = placement.ranks_on_host;
    if (!placement.launched) {
        const std::string& flags = launch_words().oversubscribe;
        return {true,
                counted(cores, "core") +
                    (flags.empty() ? "; the launcher starts more ranks without a flag"
                                   : fmt::format("; mpirun needs {} for more ranks", flags)),
                ""};
    }
    const std::string found =
        fmt::format("{} on {}", counted(ranks, "rank"), counted(cores, "core"));
    if (ranks <= cores) return {true, found, ""};
    if (!is_open_mpi() || waiting_ranks_yield())
        return {true, found + ": they take turns, waiting ranks yield", ""};
    return {false,
            found + ", and waiting ranks do not yield: rounds can be a thousand times slower",
            "unset OMPI_MCA_mpi_yield_when_idle (no --mca mpi_yield_when_idle 0), or start fewer "
            "ranks on this host"};
}

Finding check_yielding(const Placement&) {
    if (!is_open_mpi()) return {true, "this MPI library does not; sotto does where it waits", ""};
    const std::string value = environment("OMPI_MCA_mpi_yield_when_idle");
    if (value.empty()) return {true, "mpi_yield_when_idle: sotto turns it on under mpirun", ""};
    if (waiting_ranks_yield()) return {true, "mpi_yield_when_idle is on", ""};
    return {true,
            fmt::format("mpi_yield_when_idle is off ({})", value),
            "only for ranks that all have a core of their own"};
}

Finding check_locked_memory(const Placement&) {
    rlimit limit{};
    ::getrlimit(RLIMIT_MEMLOCK, &limit);
    const std::string allowed = limit.rlim_cur == RLIM_INFINITY
                                    ? "no limit"
                                    : fmt::format("limit {} KiB", limit.rlim_cur / 1024);
    if (can_lock(locked_bytes))
        return {true,
                fmt::format("{}; {} KiB for 8128 keys can be locked", allowed, locked_bytes / 1024),
                ""};
    return {false,
            fmt::format("{}: {} KiB for 8128 keys cannot be locked, so secret keys could be "
                        "written to swap",
                        allowed,
                        locked_bytes / 1024),
            "run ulimit -l 1024 before mpirun, or add a line '* - memlock 1024' to "
            "/etc/security/limits.conf to keep it (Slurm: LimitMEMLOCK=infinity for slurmd)"};
}

Finding check_shared_memory(const Placement& placement) {
    if (!is_open_mpi()) return {true, "not checked for this MPI library", ""};
    const int ranks = placement.launched ? placement.ranks_on_host : usual_ranks;
    const double needed = ranks * segment_mib;
    const std::string fix =
        "free or enlarge it: mount -o remount,size=1g /dev/shm (container: docker run "
        "--shm-size=1g)";
    const auto available = free_mib("/dev/shm");
    if (!available) return {false, "there is no /dev/shm", fix};
    if (*available < needed)
        return {false,
                fmt::format("/dev/shm has {} free; {} ranks can need {}",
                            size_text(*available),
                            ranks,
                            size_text(needed)),
                fix};
    return {true,
            fmt::format("/dev/shm has {} free, room for {} ranks",
                        size_text(*available),
                        static_cast<long>(*available / segment_mib)),
            ""};
}

Finding check_leftover_segments(const Placement&) {
    int files = 0;
    double mib = 0;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator("/dev/shm", failure)) {
        const std::string path = entry.path();
        struct stat status {};
        if (!entry.path().filename().string().starts_with("vader_segment.") ||
            ::stat(path.c_str(), &status) != 0 || status.st_uid != ::geteuid())
            continue;
        if (std::time(nullptr) - status.st_mtime < starting_seconds || in_use(path)) continue;
        ++files;
        mib += static_cast<double>(status.st_blocks) * 512 / bytes_per_mib;
    }
    if (files == 0) return {true, "none", ""};
    return {true,
            fmt::format("{} of ended jobs in /dev/shm ({:.1f} MiB)", counted(files, "file"), mib),
            "while no MPI job is running: rm /dev/shm/vader_segment.*"};
}

namespace fs = std::filesystem;

namespace {

/// A run writes a few megabytes, the session of an MPI job less.
constexpr double least_free_mib = 50;

}  // namespace

Finding check_temporary_directory(const Placement&) {
    std::string folder = environment("TMPDIR");
    if (folder.empty()) folder = "/tmp";
    return check_writable(folder,
                          "set TMPDIR to a folder of this host that can be written and has room");
}

Finding check_run_directory(const Placement&) {
    const std::string fix =
        "start sotto in a folder that can be written, or name one with --run-directory";
    std::error_code failure;
    const fs::path here = fs::current_path(failure);
    if (failure)
        return {
            false, fmt::format("the working directory is not usable ({})", failure.message()), fix};
    const fs::path runs = here / "runs";
    if (!fs::exists(runs, failure)) return check_writable(here, fix);
    if (!fs::is_directory(runs, failure))
        return {false, runs.string() + " is not a directory", fix};
    return check_writable(runs, fix);
}

Finding check_writable(const fs::path& folder, const std::string& fix) {
    std::string file = folder / ".sotto-doctor-XXXXXX";
    const int descriptor = ::mkstemp(file.data());
    if (descriptor < 0)
        return {false,
                fmt::format("{} cannot be written ({})", folder.string(), std::strerror(errno)),
                fix};
    const bool written = ::write(descriptor, file.data(), file.size()) > 0;
    ::close(descriptor);
    ::unlink(file.c_str());
    const double available = free_mib(folder).value_or(0);
    if (!written || available < least_free_mib)
        return {false,
                fmt::format("{} is nearly full ({} free)", folder.string(), size_text(available)),
                fix};
    return {
        true, fmt::format("{} can be written, {} free", folder.string(), size_text(available)), ""};
}

std::optional<double> free_mib(const fs::path& folder) {
    struct statvfs status {};
    if (::statvfs(folder.c_str(), &status) != 0) return std::nullopt;
    return static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize) /
           bytes_per_mib;
}

std::string size_text(double mib) {
    return mib >= 10 * 1024 ? fmt::format("{:.0f} GiB", mib / 1024)
                            : fmt::format("{:.0f} MiB", mib);
}

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
        return {false, error.what(), "check that /dev/urandom exists and is readable"};
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
