#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto {

/// MPI for the life of the object: sets mpi_yield_when_idle (unless the user set it) before
/// MPI_Init, so that more ranks than cores do not crawl, and finalizes at the end; not while an
/// exception unwinds it, because the other ranks may be waiting elsewhere (catch errors inside its
/// scope). Leaves starting and ending to a program that has started MPI itself.
class MpiSession {
  public:
    /// @throws NetworkError if MPI cannot start, if srun connects its tasks by neither PMIx nor
    /// PMI, or if the launcher announced more ranks than MPI sees (the job fell apart into single
    /// processes: a launcher of another MPI).
    /// @param communicator whose processes are the job, of a program that has started MPI: its
    /// Fortran handle (MPI_Comm_c2f); none: MPI_COMM_WORLD. Must live as long as networks made of
    /// it.
    explicit MpiSession(std::optional<int> communicator = std::nullopt);
    ~MpiSession();
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    [[nodiscard]] int ranks() const;
    [[nodiscard]] int rank() const;
    /// Its Fortran handle.
    [[nodiscard]] int communicator() const { return communicator_; }
    /// Library name and version, one line.
    [[nodiscard]] static std::string library_version();
    /// Host name of this process as MPI reports it.
    [[nodiscard]] static std::string host_name();

  private:
    bool owns_mpi_ = false;  // false when the program had started MPI before
    int exceptions_at_start_ = 0;
    int communicator_ = 0;
    int ranks_ = 1;
    int rank_ = 0;
};

/// How this process was started, read from the launcher's environment before MPI is initialised.
struct LaunchEnvironment {
    bool launched = false;  ///< by mpirun, srun (more than one task) or the like
    int ranks = 1;          ///< size the launcher announced; 1 if it did not
    int rank = 0;           ///< this process, as the launcher numbers it
};
[[nodiscard]] LaunchEnvironment launch_environment();

/// Seconds between the launcher's SIGTERM and its SIGKILL: Open MPI's mpirun says them, 1 by
/// default. Nothing with other launchers, and with deploy/mpirun, which waits for ranks that stop.
[[nodiscard]] std::optional<int> seconds_before_kill();

/// How the line of end_announcement begins.
inline constexpr std::string_view ends_job = "sotto ends the job with exit code ";

/// The line with which a rank under `sotto supervise` says that it ends the job now: mpirun, which
/// should say it, may fail to, and then waits for a lost host.
/// @param status exit code of the job, 0 to 255
/// @return the line with its end; nothing where no supervisor of Open MPI's mpirun listens.
[[nodiscard]] std::string end_announcement(int status);

/// @return the status that end_announcement put into this line, with other words around it or not.
[[nodiscard]] std::optional<int> announced_end(std::string_view line);

/// Tasks of srun find each other by PMIx or PMI. With neither each would be alone, or MPI_Init
/// would end it with a page of text.
/// @throws NetworkError saying how to start them, if srun started this process so.
void require_connected_tasks();

// How a process ends because of a failure.

/// Exit code for a process that ends because of a failure: never 0, which would look like success.
[[nodiscard]] int failure_status(ExitCode code);

/// Writes out what all streams hold: what ends a process without returning would lose it.
void flush_output();

}  // namespace sotto
