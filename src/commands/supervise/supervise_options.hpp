#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options/option_set.hpp"

namespace sotto::cli {

/// Seconds before a restart; doubled each time, up to `most`.
struct RestartDelay {
    long first = 5;
    long most = 300;
};

/// The options of `sotto supervise`.
struct SuperviseConfig {
    int max_restarts = 10;
    RestartDelay delay;
    long host_wait = 600;           ///< how long to wait for hosts that do not answer [s]
    std::optional<int> min_agents;  ///< after that, drop those hosts if so many agents are left
    bool quiet = false;
    std::vector<std::string> command;  ///< launcher and options, sotto, command and options
};

[[nodiscard]] OptionSet<SuperviseConfig> supervise_option_set();

/// "FIRST:MOST", whole numbers of seconds, up to a million.
/// @throws ConfigError naming the option and the value.
[[nodiscard]] RestartDelay parse_restart_delay(const std::string& option, const std::string& text);
[[nodiscard]] std::string restart_delay_text(const RestartDelay& delay);

}  // namespace sotto::cli
