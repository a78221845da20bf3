#pragma once

#include <optional>

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

/// Tasks of srun find each other by PMIx or PMI. With neither each would be alone, or MPI_Init
/// would end it with a page of text.
/// @throws NetworkError saying how to start them, if srun started this process so.
void require_connected_tasks();

}  // namespace sotto
