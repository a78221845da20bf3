// What one process can find out about the machine it runs on.

#include "commands/doctor/doctor.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <hwy/highway.h>
#include <sched.h>
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
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <optional>
#include <sstream>

#include "run/run_directory.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/names.hpp"
#include "sotto/net/mpi_network.hpp"
#include "sotto/trust/normal_stream.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

constexpr double kMiB = 1024.0 * 1024.0;
/// Open MPI's shared memory per rank (btl_vader_segment_size).
constexpr double kSegmentMiB = 4;
/// Ranks a machine should carry when nothing says how many there will be: the default of --agents.
constexpr int kUsualRanks = 20;
/// Guarded memory for 8128 secret keys, 127 in a page of 4 KiB.
constexpr std::size_t kLockedBytes = 256 * 1024;
/// A run writes a few megabytes; an MPI job's session less.
constexpr double kLeastFreeMiB = 50;

bool is_open_mpi() { return MpiSession::library_version().find("Open MPI") != std::string::npos; }

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

bool yields() {
    const std::string value = environment("OMPI_MCA_mpi_yield_when_idle");
    static const std::array off{"0", "false", "no", "f", "n", "off", "disabled"};
    return std::find(off.begin(), off.end(), value) == off.end();
}

/// What a container's limit on processor time leaves, in cores.
std::optional<int> core_quota() {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    double quota = 0, period = 0;
    if (!(file >> quota >> period) || !(quota > 0) || !(period > 0)) return std::nullopt;
    return std::max(1, static_cast<int>(std::ceil(quota / period)));
}

int usable_cores(const Placement& placement) {
    return std::min(placement.cores_on_host, core_quota().value_or(placement.cores_on_host));
}

std::string counted(int count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// A check that could not even be made has failed; the others go on.
DoctorCheck guarded(const char* name, DoctorCheck (*check)()) {
    try {
        return check();
    } catch (const std::exception& error) {
        return {name, false, error.what(), "install the library this needs again"};
    }
}

DoctorCheck check_program() {
    return {
        "program",
        true,
        fmt::format("sotto {} (commit {}, {})", build_version(), build_commit(), build_compiler()),
        "",
        true};
}

DoctorCheck check_mpi_library() {
    const std::string text = MpiSession::library_version();
    return {"mpi-library", true, text.substr(0, text.find(", package:")), "", true};
}

DoctorCheck check_root(const Placement& placement) {
    if (::geteuid() != 0) return {"root", true, "not running as root", ""};
    if (!is_open_mpi() || placement.launched) return {"root", true, "running as root", ""};
    if (environment("OMPI_ALLOW_RUN_AS_ROOT") == "1" &&
        environment("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") == "1")
        return {"root", true, "running as root, and mpirun is told to allow it", ""};
    return {"root",
            false,
            "running as root, which mpirun refuses",
            "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, or use another "
            "account"};
}

DoctorCheck check_cores(const Placement& placement) {
    const int cores = usable_cores(placement), ranks = placement.ranks_on_host;
    if (!placement.launched)
        return {
            "cores",
            true,
            fmt::format("{}; mpirun needs --oversubscribe for more ranks", counted(cores, "core")),
            ""};
    const std::string found =
        fmt::format("{} on {}", counted(ranks, "rank"), counted(cores, "core"));
    if (ranks <= cores) return {"cores", true, found, ""};
    if (!is_open_mpi() || yields())
        return {"cores", true, found + ": they take turns, waiting ranks yield", ""};
    return {"cores",
            false,
            found + ", and waiting ranks do not yield: rounds can be a thousand times slower",
            "unset OMPI_MCA_mpi_yield_when_idle (no --mca mpi_yield_when_idle 0), or start fewer "
            "ranks on this host"};
}

DoctorCheck check_yielding() {
    if (!is_open_mpi()) return {"yielding", true, "not a setting of this MPI library", ""};
    const std::string value = environment("OMPI_MCA_mpi_yield_when_idle");
    if (value.empty())
        return {"yielding", true, "mpi_yield_when_idle: sotto turns it on under mpirun", ""};
    if (yields()) return {"yielding", true, "mpi_yield_when_idle is on", ""};
    return {"yielding",
            true,
            fmt::format("mpi_yield_when_idle is off ({})", value),
            "only for ranks that all have a core of their own"};
}

DoctorCheck check_eigen() {
    return {"eigen",
            true,
            fmt::format("Eigen {}.{}.{} ({})",
                        EIGEN_WORLD_VERSION,
                        EIGEN_MAJOR_VERSION,
                        EIGEN_MINOR_VERSION,
                        Eigen::SimdInstructionSetsInUse()),
            ""};
}

/// Eigenvalues of the Laplacian of a path are known: 2 - 2 cos(pi k / n).
DoctorCheck check_eigenvalues() {
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
        return {"eigenvalues",
                false,
                fmt::format("{} gives eigenvalues that are wrong by {:.1e}", backend, error),
                "reinstall libopenblas0, or choose another libblas.so.3 (update-alternatives)"};
    return {"eigenvalues",
            true,
            fmt::format("by {}, correct to {:.0e}", backend, error),
            backend == "LAPACK" ? ""
                                : "plans for more than 100 agents are faster with libopenblas-dev "
                                  "and liblapacke-dev installed before building"};
}

DoctorCheck check_blas_threads(const Placement& placement) {
    using Count = int (*)();
    const auto count = reinterpret_cast<Count>(::dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
    if (count == nullptr) return {"blas-threads", true, "no OpenBLAS in use", ""};
    const int threads = count(), cores = usable_cores(placement);
    const std::string found = fmt::format("OpenBLAS: {} a process", counted(threads, "thread"));
    if (threads > 1 && placement.ranks_on_host > 1 && threads * placement.ranks_on_host > cores)
        return {
            "blas-threads",
            true,
            fmt::format(
                "{}, {} processes on {}", found, placement.ranks_on_host, counted(cores, "core")),
            "jobs start a little faster with OPENBLAS_NUM_THREADS=1 (mpirun -x "
            "OPENBLAS_NUM_THREADS=1)"};
    return {"blas-threads", true, found, ""};
}

DoctorCheck check_sodium() {
    try {
        ensure_sodium();
        const SecretKey key = SecretKey::random();
        if (key == SecretKey::random())
            return {"libsodium",
                    false,
                    "the operating system gave the same key twice",
                    "do not train here: the system's random numbers are broken"};
    } catch (const Error& error) {
        return {"libsodium", false, error.what(), "is /dev/urandom there and readable?"};
    }
    return {"libsodium",
            true,
            fmt::format("libsodium {}, started; keys from the system", sodium_version_string()),
            ""};
}

DoctorCheck check_simd() {
    return {
        "simd",
        true,
        fmt::format(
            "Highway {}.{}.{}, {} in use", HWY_MAJOR, HWY_MINOR, HWY_PATCH, simd_levels().front()),
        ""};
}

/// Noise that agents share cancels only if all of them draw the same bits.
DoctorCheck check_noise_bits() {
    const std::string fix =
        "build sotto with its own compiler flags (no -ffast-math, no -mfma) on every host";
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
            return {
                "noise-bits", false, level + " draws other noise than the best level", fix, true};
        }
    }
    force_simd_level("");
    return {"noise-bits", true, fmt::format("test stream {}", first.substr(0, 16)), "", true};
}

DoctorCheck check_locked_memory() {
    rlimit limit{};
    ::getrlimit(RLIMIT_MEMLOCK, &limit);
    const std::string allowed = limit.rlim_cur == RLIM_INFINITY
                                    ? "no limit"
                                    : fmt::format("limit {} KiB", limit.rlim_cur / 1024);
    void* memory =
        ::mmap(nullptr, kLockedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool locked = memory != MAP_FAILED && ::mlock(memory, kLockedBytes) == 0;
    if (memory != MAP_FAILED) ::munmap(memory, kLockedBytes);
    if (locked)
        return {"locked-memory",
                true,
                fmt::format("{}; {} KiB for 8128 keys can be locked", allowed, kLockedBytes / 1024),
                ""};
    return {"locked-memory",
            false,
            fmt::format("{}: {} KiB for 8128 keys cannot be locked, so secret keys could be "
                        "written to swap",
                        allowed,
                        kLockedBytes / 1024),
            "ulimit -l 1024 before mpirun; for good: a line '* - memlock 1024' in "
            "/etc/security/limits.conf (Slurm: LimitMEMLOCK=infinity for slurmd)"};
}

std::optional<double> free_mib(const fs::path& folder) {
    struct statvfs status {};
    if (::statvfs(folder.c_str(), &status) != 0) return std::nullopt;
    return static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize) / kMiB;
}

std::string size_text(double mib) {
    return mib >= 10 * 1024 ? fmt::format("{:.0f} GiB", mib / 1024)
                            : fmt::format("{:.0f} MiB", mib);
}

DoctorCheck check_shared_memory(const Placement& placement) {
    if (!is_open_mpi()) return {"shared-memory", true, "not checked for this MPI library", ""};
    const int ranks = placement.launched ? placement.ranks_on_host : kUsualRanks;
    const double needed = ranks * kSegmentMiB;
    const std::string fix = fmt::format(
        "free or enlarge it: mount -o remount,size=1g /dev/shm (container: docker run "
        "--shm-size=1g)");
    const auto available = free_mib("/dev/shm");
    if (!available) return {"shared-memory", false, "/dev/shm is not there", fix};
    if (*available < needed)
        return {"shared-memory",
                false,
                fmt::format("/dev/shm has {} free; {} ranks can need {}",
                            size_text(*available),
                            ranks,
                            size_text(needed)),
                fix};
    return {"shared-memory",
            true,
            fmt::format("/dev/shm has {} free, room for {} ranks",
                        size_text(*available),
                        static_cast<long>(*available / kSegmentMiB)),
            ""};
}

/// Is a file of /dev/shm part of a process's memory? Looks at the processes this user may see.
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

DoctorCheck check_leftover_segments() {
    using namespace std::chrono_literals;
    int files = 0;
    double mib = 0;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator("/dev/shm", failure)) {
        const std::string path = entry.path();
        struct stat status {};
        if (!entry.path().filename().string().starts_with("vader_segment.") ||
            ::stat(path.c_str(), &status) != 0 || status.st_uid != ::geteuid())
            continue;
        // A job that is just starting makes its files before it maps them.
        if (std::time(nullptr) - status.st_mtime < 60 || in_use(path)) continue;
        ++files;
        mib += static_cast<double>(status.st_blocks) * 512 / kMiB;
    }
    if (files == 0) return {"leftover-segments", true, "none", ""};
    return {"leftover-segments",
            true,
            fmt::format("{} of ended jobs in /dev/shm ({:.1f} MiB)", counted(files, "file"), mib),
            "while no MPI job is running: rm /dev/shm/vader_segment.*"};
}

/// Can files be made in a folder? Nothing is left behind.
DoctorCheck check_writable(const std::string& name,
                           const fs::path& folder,
                           const std::string& fix) {
    std::string file = folder / ".sotto-doctor-XXXXXX";
    const int descriptor = ::mkstemp(file.data());
    if (descriptor < 0)
        return {name,
                false,
                fmt::format("{} cannot be written ({})", folder.string(), std::strerror(errno)),
                fix};
    const bool written = ::write(descriptor, file.data(), file.size()) > 0;
    ::close(descriptor);
    ::unlink(file.c_str());
    const double available = free_mib(folder).value_or(0);
    if (!written || available < kLeastFreeMiB)
        return {name,
                false,
                fmt::format("{} is nearly full ({} free)", folder.string(), size_text(available)),
                fix};
    return {name,
            true,
            fmt::format("{} can be written, {} free", folder.string(), size_text(available)),
            ""};
}

DoctorCheck check_temporary_directory() {
    std::string folder = environment("TMPDIR");
    if (folder.empty()) folder = "/tmp";
    return check_writable("temporary-directory",
                          folder,
                          "set TMPDIR to a folder of this host that can be written and has room");
}

DoctorCheck check_run_directory() {
    const std::string fix =
        "start sotto in a folder that can be written, or name one with --run-directory";
    std::error_code failure;
    const fs::path here = fs::current_path(failure);
    if (failure)
        return {"run-directory",
                false,
                fmt::format("the working directory is not usable ({})", failure.message()),
                fix};
    const fs::path runs = here / "runs";
    if (!fs::exists(runs, failure)) return check_writable("run-directory", here, fix);
    if (!fs::is_directory(runs, failure))
        return {"run-directory", false, runs.string() + " is not a directory", fix};
    return check_writable("run-directory", runs, fix);
}

}  // namespace

std::vector<int> allowed_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cores;
    if (::sched_getaffinity(0, sizeof set, &set) == 0)
        for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
            if (CPU_ISSET(i, &set)) cores.push_back(static_cast<int>(i));
    if (cores.empty()) cores.push_back(0);
    return cores;
}

std::vector<DoctorCheck> check_machine(const Placement& placement) {
    return {check_program(),
            check_mpi_library(),
            check_root(placement),
            check_cores(placement),
            check_yielding(),
            check_eigen(),
            guarded("eigenvalues", check_eigenvalues),
            check_blas_threads(placement),
            check_sodium(),
            check_simd(),
            guarded("noise-bits", check_noise_bits),
            check_locked_memory(),
            check_shared_memory(placement),
            check_leftover_segments(),
            check_temporary_directory(),
            check_run_directory()};
}

}  // namespace sotto
