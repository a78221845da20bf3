#pragma once

#include <string>
#include <vector>

#include "commands/supervise/supervise_config.hpp"
#include "options/option_set.hpp"

namespace sotto::cli {

[[nodiscard]] OptionSet<SuperviseConfig> supervise_option_set();

/// "FIRST:MOST", whole numbers of seconds, up to a million.
/// @throws ConfigError naming the option and the value.
[[nodiscard]] RestartDelay parse_restart_delay(const std::string& option, const std::string& text);
[[nodiscard]] std::string restart_delay_text(const RestartDelay& delay);

}  // namespace sotto::cli
