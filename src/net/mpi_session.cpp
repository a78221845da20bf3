#include "net/mpi_session.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "net/mpi_call.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

MpiSession::MpiSession(std::optional<int> communicator)
    : exceptions_at_start_(std::uncaught_exceptions()) {
    int finalized = 0;
    check_mpi(MPI_Finalized(&finalized), "MPI_Finalized");
    if (finalized != 0)
        throw NetworkError("MPI was already finalized in this process; it cannot start again");
    int initialized = 0;
    check_mpi(MPI_Initialized(&initialized), "MPI_Initialized");

    // Starting as a single process may change the environment: read it first.
    const LaunchEnvironment launch = initialized == 0 ? launch_environment() : LaunchEnvironment{};
    if (initialized == 0) {
        require_connected_tasks();
        // Without yielding, more ranks than cores are a thousand times slower.
        setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
        setenv("OMPI_MCA_btl_tcp_eager_limit", std::to_string(most_sent_at_once).c_str(), 0);
        int provided = MPI_THREAD_SINGLE;
        check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided),
                  "MPI_Init_thread");
        owns_mpi_ = true;
        if (provided < MPI_THREAD_FUNNELED) {
            MPI_Finalize();
            throw NetworkError(
                "this MPI library does not allow other threads in its process "
                "(MPI_THREAD_FUNNELED)");
        }
    }
    const MPI_Comm job = communicator ? MPI_Comm_f2c(*communicator) : MPI_COMM_WORLD;
    communicator_ = MPI_Comm_c2f(job);
    check_mpi(MPI_Comm_set_errhandler(job, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_size(job, &ranks_), "MPI_Comm_size");
    check_mpi(MPI_Comm_rank(job, &rank_), "MPI_Comm_rank");
    if (launch.ranks > ranks_) {
        const int seen = ranks_;
        MPI_Finalize();
        throw NetworkError(
            fmt::format("the launcher announced {} ranks but MPI sees {}: the job fell apart into "
                        "single processes; start it with the mpirun of this MPI library ({}), or "
                        "with 'srun --mpi=pmix'",
                        launch.ranks,
                        seen,
                        library_version()));
    }
}

MpiSession::~MpiSession() {
    // While an exception unwinds, other ranks may wait in a collective, and finalizing would wait
    // for them. The process ends without it; the launcher then ends the others.
    if (!owns_mpi_ || std::uncaught_exceptions() > exceptions_at_start_) return;
    MPI_Finalize();
}

int MpiSession::ranks() const { return ranks_; }
int MpiSession::rank() const { return rank_; }

std::string MpiSession::library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    // Some libraries add build options on further lines.
    std::istringstream lines(std::string(text.data()));
    std::string line;
    std::getline(lines, line);
    for (char& c : line)
        if (c == '\t' || c == '\r') c = ' ';
    return line;
}

std::string MpiSession::host_name() {
    std::array<char, MPI_MAX_PROCESSOR_NAME> text{};
    int length = 0;
    check_mpi(MPI_Get_processor_name(text.data(), &length), "MPI_Get_processor_name");
    return std::string(text.data(), static_cast<std::size_t>(length));
}

namespace {

/// A number of the environment; nothing if the variable is missing or not a number >= 0.
std::optional<int> environment_number(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    const std::string_view text(value);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
    return number;
}

std::optional<LaunchEnvironment> launched_with(const char* ranks_name, const char* rank_name) {
    const auto ranks = environment_number(ranks_name);
    const auto rank = environment_number(rank_name);
    if (!ranks || !rank || *ranks < 1) return std::nullopt;
    return LaunchEnvironment{true, *ranks, *rank};
}

/// A task started by srun. Only a job step sets SLURM_STEP_ID. A step of one task may also be an
/// interactive shell.
std::optional<LaunchEnvironment> launched_by_slurm() {
    if (std::getenv("SLURM_STEP_ID") == nullptr) return std::nullopt;
    auto launch = launched_with("SLURM_STEP_NUM_TASKS", "SLURM_PROCID");
    if (!launch) launch = launched_with("SLURM_NTASKS", "SLURM_PROCID");
    if (launch && launch->ranks == 1) return std::nullopt;
    return launch;
}

bool under_mpirun() { return std::getenv("OMPI_MCA_orte_hnp_uri") != nullptr; }

/// Set by `sotto supervise`, which stops ranks in time and reads their output.
bool supervised() { return std::getenv("SOTTO_STOPS_IN_TIME") != nullptr; }

}  // namespace

LaunchEnvironment launch_environment() {
    // Open MPI's mpirun; MPICH's and Intel's (Hydra); srun. Slurm last, since its variables remain
    // set under another launcher inside its job.
    if (const auto launch = launched_with("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"))
        return *launch;
    if (const auto launch = launched_with("PMI_SIZE", "PMI_RANK")) return *launch;
    if (const auto launch = launched_by_slurm()) return *launch;
    // A PMIx launcher that does not announce its size.
    if (const auto rank = environment_number("PMIX_RANK")) return {true, 1, *rank};
    return {};
}

std::optional<int> seconds_before_kill() {
    constexpr int unless_said = 1;
    if (!under_mpirun() || supervised()) return std::nullopt;
    return environment_number("OMPI_MCA_odls_base_sigkill_timeout").value_or(unless_said);
}

std::string end_announcement(int status) {
    if (!under_mpirun() || !supervised()) return {};
    return fmt::format("{}{}.\n", ends_job, status);
}

std::optional<int> announced_end(std::string_view line) {
    const std::size_t at = line.find(ends_job);
    if (at == std::string_view::npos) return std::nullopt;
    const char* number = line.data() + at + ends_job.size();
    const char* end = line.data() + line.size();
    int status = 0;
    const auto [next, error] = std::from_chars(number, end, status);
    if (error != std::errc() || next == end || *next != '.' || status < 0 || status > 255)
        return std::nullopt;
    return status;
}

void require_connected_tasks() {
    const auto tasks = launched_by_slurm();
    if (!tasks) return;
    for (const char* name : {"PMIX_NAMESPACE", "PMI_RANK", "OMPI_COMM_WORLD_SIZE"})
        if (std::getenv(name) != nullptr) return;
    throw NetworkError(
        fmt::format("srun started {} tasks without PMIx: they cannot find each other; start them "
                    "with 'srun --mpi=pmix' ('srun --mpi=list' says whether this Slurm has it), or "
                    "with mpirun inside the job",
                    tasks->ranks));
}

int failure_status(ExitCode code) {
    return static_cast<int>(code == ExitCode::ok ? ExitCode::other : code);
}

void flush_output() {
    std::cout.flush();
    std::clog.flush();
    std::fflush(nullptr);
}

}  // namespace sotto
