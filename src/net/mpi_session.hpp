#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto {

/// Largest message in bytes that Open MPI sends at once over TCP: a model's longest piece (1 MiB)
/// and what is beside it. Longer ones are announced and wait for an answer. With Open MPI's own
/// limit of 64 KiB rounds of large models took nearly twice as long, since answers wait behind the
/// messages of others.
inline constexpr std::size_t most_sent_at_once = (std::size_t{1} << 20) + (std::size_t{1} << 16);

/// Initialises MPI, unless the program has, and finalizes what it initialised. Sets two parameters
/// of Open MPI before MPI_Init, unless the user set them: mpi_yield_when_idle, without which more
/// ranks than cores are very slow, and btl_tcp_eager_limit. Does not finalize while an exception
/// unwinds it, since other ranks may be waiting elsewhere: catch errors inside its scope.
class MpiSession {
  public:
    /// @throws NetworkError if MPI cannot start, if srun connects its tasks by neither PMIx nor
    /// PMI, or if the launcher announced more ranks than MPI sees (a launcher of another MPI).
    /// @param communicator for programs that have started MPI: Fortran handle (MPI_Comm_c2f) of the
    /// job's processes; default: MPI_COMM_WORLD. Must outlive networks made of it.
    explicit MpiSession(std::optional<int> communicator = std::nullopt);
    ~MpiSession();
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    [[nodiscard]] int ranks() const;
    [[nodiscard]] int rank() const;
    /// Fortran handle.
    [[nodiscard]] int communicator() const { return communicator_; }
    [[nodiscard]] static std::string library_version();
    /// As MPI reports it.
    [[nodiscard]] static std::string host_name();

  private:
    bool owns_mpi_ = false;  // false if the program had started MPI
    int exceptions_at_start_ = 0;
    int communicator_ = 0;
    int ranks_ = 1;
    int rank_ = 0;
};

/// How this process was started, from the launcher's environment before MPI_Init.
struct LaunchEnvironment {
    bool launched = false;  ///< by mpirun, srun (more than one task) or similar
    int ranks = 1;          ///< announced by the launcher; 1 if unknown
    int rank = 0;           ///< as the launcher numbers it
};
[[nodiscard]] LaunchEnvironment launch_environment();

/// Seconds between the launcher's SIGTERM and SIGKILL: Open MPI's mpirun announces them, 1 by
/// default. Nothing with other launchers, and with deploy/mpirun, which waits for ranks that stop.
[[nodiscard]] std::optional<int> seconds_before_kill();

/// Prefix of end_announcement.
inline constexpr std::string_view ends_job = "sotto ends the job with exit code ";

/// The line with which a rank tells `sotto supervise` that it ends the job; mpirun may fail to do
/// so and then waits for a lost host.
/// @param status exit code of the job, 0 to 255
/// @return the line with its line end; nothing if no supervisor of Open MPI's mpirun listens.
[[nodiscard]] std::string end_announcement(int status);

/// @return the status of an end_announcement anywhere in this line.
[[nodiscard]] std::optional<int> announced_end(std::string_view line);

/// Without PMIx or PMI, tasks of srun could not find each other.
/// @throws NetworkError saying how to start them, if srun started this process so.
void require_connected_tasks();

/// Exit code of a failed process, never 0.
[[nodiscard]] int failure_status(ExitCode code);

/// Flushes all streams, which ending a process without returning would lose.
void flush_output();

}  // namespace sotto
