#include "commands/doctor/doctor.hpp"

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
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>

#include "commands/doctor/launch_checks.hpp"
#include "core/json.hpp"
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

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_groups = 4;  // groups of ranks named in one line

/// Ranks of one host that found the same.
struct Group {
    std::string host, found;
    std::vector<int> ranks;
};

std::string text_of(const std::vector<Group>& groups) {
    std::string text;
    for (std::size_t i = 0; i < groups.size() && i < most_groups; ++i)
        text += fmt::format("{}rank{} {} on {}: {}",
                            i == 0 ? "" : "; ",
                            groups[i].ranks.size() == 1 ? "" : "s",
                            ranges_text(groups[i].ranks),
                            groups[i].host,
                            groups[i].found);
    if (groups.size() > most_groups)
        text += fmt::format("; and {} more", groups.size() - most_groups);
    return text;
}

/// @param firsts counts only the first rank of each host: its other ranks measured the same host at
/// another moment.
template <class Wanted>
std::vector<Group> group(std::span<const RankFindings> findings,
                         std::size_t check,
                         bool firsts,
                         Wanted wanted) {
    std::vector<Group> groups;
    std::set<std::string> seen;
    for (const auto& one : findings) {
        const DoctorCheck& result = one.checks[check];
        const std::string& host = one.placement.host;
        if (!wanted(result) || (firsts && !seen.insert(host).second)) continue;
        const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
            return g.host == host && g.found == result.found;
        });
        if (same != groups.end())
            same->ranks.push_back(one.placement.rank);
        else
            groups.push_back({host, result.found, {one.placement.rank}});
    }
    return groups;
}

DoctorCheck merge_one(std::span<const RankFindings> findings, std::size_t check) {
    DoctorCheck merged = findings.front().checks[check];
    if (findings.size() == 1) return merged;
    const auto failed = group(findings, check, false, [](const DoctorCheck& c) { return !c.ok; });
    if (!failed.empty()) {
        const auto first = std::find_if(findings.begin(), findings.end(), [&](const auto& one) {
            return !one.checks[check].ok;
        });
        merged.ok = false;
        merged.fix = first->checks[check].fix;
        merged.found = text_of(failed);
        return merged;
    }
    const auto all =
        group(findings, check, !merged.must_agree, [](const DoctorCheck&) { return true; });
    const bool same = std::all_of(
        all.begin(), all.end(), [&](const Group& g) { return g.found == all.front().found; });
    if (same) return merged;
    merged.found = text_of(all);
    if (merged.must_agree) {
        merged.ok = false;
        merged.fix = "install the same build and the same libraries on every host";
    } else {
        for (const auto& one : findings)
            if (merged.fix.empty()) merged.fix = one.checks[check].fix;
    }
    return merged;
}

}  // namespace

std::vector<DoctorCheck> merge_findings(std::span<const RankFindings> findings) {
    std::vector<DoctorCheck> merged;
    for (std::size_t i = 0; i < findings.front().checks.size(); ++i) {
        for (const auto& one : findings)
            if (one.checks.size() <= i || one.checks[i].name != findings.front().checks[i].name)
                throw DataError(fmt::format(
                    "rank {} on {} made other checks than rank 0: it runs another version of "
                    "sotto; install the same build on every host",
                    one.placement.rank,
                    one.placement.host));
        merged.push_back(merge_one(findings, i));
    }
    return merged;
}

std::string to_json(const RankFindings& findings) {
    Json json;
    json["launched"] = findings.placement.launched;
    json["rank"] = findings.placement.rank;
    json["ranks"] = findings.placement.ranks;
    json["host"] = findings.placement.host;
    json["ranks_on_host"] = findings.placement.ranks_on_host;
    json["cores_on_host"] = findings.placement.cores_on_host;
    json["checks"] = Json::array();
    for (const auto& check : findings.checks)
        json["checks"].push_back({{"name", check.name},
                                  {"ok", check.ok},
                                  {"found", check.found},
                                  {"fix", check.fix},
                                  {"must_agree", check.must_agree}});
    // Paths and launchers' messages need not be UTF-8.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RankFindings findings_from_json(const std::string& text) {
    try {
        const JsonDocument document(text);
        const JsonValue json = document.root();
        RankFindings findings;
        Placement& placement = findings.placement;
        placement.launched = json.at("launched").boolean();
        placement.rank = json.at("rank").integer<int>(0);
        placement.ranks = json.at("ranks").integer<int>(1);
        placement.host = json.at("host").text();
        placement.ranks_on_host = json.at("ranks_on_host").integer<int>();
        placement.cores_on_host = json.at("cores_on_host").integer<int>();
        for (const JsonValue& check : json.at("checks").items())
            findings.checks.push_back({check.at("name").text(),
                                       check.at("ok").boolean(),
                                       check.at("found").text(),
                                       check.at("fix").text(),
                                       check.at("must_agree").boolean()});
        return findings;
    } catch (const DataError& error) {
        throw DataError(fmt::format("a rank's findings cannot be read ({})", error.what()));
    }
}

std::string ranges_text(const std::vector<int>& ascending) {
    std::string text;
    for (std::size_t i = 0; i < ascending.size();) {
        std::size_t last = i;
        while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
        if (!text.empty()) text += ", ";
        text += std::to_string(ascending[i]);
        if (last > i) text += fmt::format("-{}", ascending[last]);
        i = last + 1;
    }
    return text;
}

namespace {

Finding make(const CheckRecord& check, const Placement& placement) {
    try {
        return check.make(placement);
    } catch (const std::exception& error) {
        return {false, error.what(), "install the library this needs again"};
    }
}

}  // namespace

const Registry<CheckRecord>& machine_checks() {
    static const Registry<CheckRecord> table("check",
                                             {{"program", check_program, true},
                                              {"mpi-library", check_mpi_library, true},
                                              {"root", check_root},
                                              {"cores", check_cores},
                                              {"yielding", check_yielding},
                                              {"eigen", check_eigen},
                                              {"eigenvalues", check_eigenvalues},
                                              {"blas-kernels", check_blas_kernels},
                                              {"blas-threads", check_blas_threads},
                                              {"libsodium", check_libsodium},
                                              {"simd", check_simd},
                                              {"noise-bits", check_noise_bits, true},
                                              {"locked-memory", check_locked_memory},
                                              {"shared-memory", check_shared_memory},
                                              {"leftover-segments", check_leftover_segments},
                                              {"temporary-directory", check_temporary_directory},
                                              {"run-directory", check_run_directory}});
    return table;
}

std::vector<DoctorCheck> check_machine(const Placement& placement) {
    std::vector<DoctorCheck> checks;
    for (const CheckRecord& check : machine_checks().records()) {
        const Finding finding = make(check, placement);
        checks.push_back({check.name, finding.ok, finding.found, finding.fix, check.must_agree});
    }
    return checks;
}

namespace {

/// Hosts with their ranks, in the order of their first rank.
std::vector<std::pair<Placement, std::vector<int>>> hosts_of(
    std::span<const RankFindings> findings) {
    std::vector<std::pair<Placement, std::vector<int>>> hosts;
    for (const auto& one : findings) {
        auto host = std::find_if(hosts.begin(), hosts.end(), [&](const auto& known) {
            return known.first.host == one.placement.host;
        });
        if (host == hosts.end()) host = hosts.insert(hosts.end(), {one.placement, {}});
        host->second.push_back(one.placement.rank);
    }
    return hosts;
}

}  // namespace

std::string doctor_report_json(std::span<const RankFindings> findings,
                               std::span<const DoctorCheck> merged) {
    Json json;
    json["ok"] = std::all_of(merged.begin(), merged.end(), [](const auto& c) { return c.ok; });
    json["version"] = build_version();
    json["launched"] = findings.front().placement.launched;
    json["ranks"] = findings.size();
    json["hosts"] = Json::array();
    for (const auto& [placement, ranks] : hosts_of(findings))
        json["hosts"].push_back(
            {{"host", placement.host}, {"cores", placement.cores_on_host}, {"ranks", ranks}});
    json["checks"] = Json::array();
    for (const auto& check : merged)
        json["checks"].push_back(
            {{"name", check.name}, {"ok", check.ok}, {"found", check.found}, {"fix", check.fix}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string doctor_report_text(std::span<const RankFindings> findings,
                               std::span<const DoctorCheck> merged) {
    const auto hosts = hosts_of(findings);
    std::string text;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const auto& [placement, ranks] = hosts[i];
        const std::string who =
            placement.launched
                ? fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", ranges_text(ranks))
                : "this process, started without mpirun";
        text += fmt::format("{:<6}{}: {}\n", i == 0 ? "hosts" : "", placement.host, who);
    }
    std::size_t width = 0, failed = 0;
    for (const auto& check : merged) width = std::max(width, check.name.size());
    for (const auto& check : merged) {
        if (!check.ok) ++failed;
        text += fmt::format(
            "{:<6}{:<{}}  {}\n", check.ok ? "ok" : "FAIL", check.name, width, check.found);
        if (!check.fix.empty())
            text += fmt::format(
                "{:<6}{:<{}}  {}: {}\n", "", "", width, check.ok ? "advice" : "fix", check.fix);
    }
    return text + (failed == 0 ? fmt::format("all {} checks ok\n", merged.size())
                               : fmt::format("{} of {} checks failed\n", failed, merged.size()));
}

}  // namespace sotto
