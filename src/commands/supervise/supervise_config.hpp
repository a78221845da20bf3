#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sotto::cli {

/// Seconds before a restart: the first time, then each time twice as long, up to `most`.
struct RestartDelay {
    long first = 5;
    long most = 300;
};

/// What `sotto supervise` is asked for.
struct SuperviseConfig {
    int max_restarts = 10;
    RestartDelay delay;
    long host_wait = 600;           ///< for hosts that do not answer [s]
    std::optional<int> min_agents;  ///< then without the agents of those hosts, if so many are left
    bool quiet = false;
    std::vector<std::string> command;  ///< a launcher, its options, sotto, a command, its options
};

}  // namespace sotto::cli
