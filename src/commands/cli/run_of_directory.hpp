#pragma once

#include <string>
#include <string_view>

#include "commands/cli/option_parser.hpp"
#include "run/config.hpp"

namespace sotto::cli {

/// config.ini of a run's directory. LOCAL. @throws ConfigError naming the option that gave the
/// directory if there is none.
[[nodiscard]] ConfigText config_of_run(std::string_view option, const std::string& directory);
/// What `sotto train` reads from it. @throws ConfigError.
[[nodiscard]] TrainConfig train_config_of_run(std::string_view option,
                                              const std::string& directory);
/// What `sotto train` reads from a configuration file, or from a part of one. @throws ConfigError.
[[nodiscard]] TrainConfig train_config_of(const ConfigText& config);

}  // namespace sotto::cli
