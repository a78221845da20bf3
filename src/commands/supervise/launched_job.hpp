#pragma once

#include <string>
#include <vector>

namespace sotto::cli {

/// How a launcher is waited for.
struct LaunchSetting {
    int kill_seconds = 1;          ///< mpirun's, between two of its signals
    std::string session;           ///< folder for files of Open MPI, with a short name
    bool output_to_error = false;  ///< what the job says to standard output, too
};

/// Runs a launcher, passes its errors on, and waits for its end.
/// A stop that is asked for (stop_requests.hpp) is passed on as SIGUSR1, again and again until the
/// job has ended or is aborted, since ranks that are not there yet do not hear it: of its own signals mpirun
/// would kill the ranks too soon. A second one ends the launcher (SIGTERM).
/// A launcher that has aborted the job gets 3 + 2 kill_seconds to end, then it is ended: with a
/// lost host Open MPI's would wait for a quarter of an hour.
/// @return its exit code; of an aborted job that of the rank that ended it, also where the
/// launcher crashes, and 5 where that is not known; 128 + signal of a stop that ended it at once.
/// @throws Error if no process can be made.
[[nodiscard]] int run_launcher(const std::vector<std::string>& command,
                               const LaunchSetting& setting);

}  // namespace sotto::cli
