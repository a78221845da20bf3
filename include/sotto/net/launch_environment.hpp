#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sotto {

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

}  // namespace sotto
