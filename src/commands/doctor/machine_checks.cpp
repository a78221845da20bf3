#include "commands/doctor/machine_checks.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "commands/doctor/folder_checks.hpp"
#include "commands/doctor/mpi_settings.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

/// Open MPI's shared memory per rank (btl_vader_segment_size).
constexpr double segment_mib = 4;
/// Ranks a machine should carry when nothing says how many there will be: the default of --agents.
constexpr int usual_ranks = 20;
/// Guarded memory for 8128 secret keys, 127 in a page of 4 KiB.
constexpr std::size_t locked_bytes = 256 * 1024;
/// A job that is just starting makes its files before it maps them.
constexpr std::time_t starting_seconds = 60;

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
            "ulimit -l 1024 before mpirun; for good: a line '* - memlock 1024' in "
            "/etc/security/limits.conf (Slurm: LimitMEMLOCK=infinity for slurmd)"};
}

Finding check_shared_memory(const Placement& placement) {
    if (!is_open_mpi()) return {true, "not checked for this MPI library", ""};
    const int ranks = placement.launched ? placement.ranks_on_host : usual_ranks;
    const double needed = ranks * segment_mib;
    const std::string fix =
        "free or enlarge it: mount -o remount,size=1g /dev/shm (container: docker run "
        "--shm-size=1g)";
    const auto available = free_mib("/dev/shm");
    if (!available) return {false, "/dev/shm is not there", fix};
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

}  // namespace sotto
