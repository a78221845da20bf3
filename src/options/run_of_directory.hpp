#pragma once

#include <string>
#include <string_view>

#include "config/config.hpp"
#include "options/option_parser.hpp"

namespace sotto {

/// config.ini of a run's directory. LOCAL. @throws ConfigError naming the option that gave the
/// directory if there is none.
[[nodiscard]] ConfigText config_of_run(std::string_view option, const std::string& directory);
/// Refuses options that no run keeps in its config.ini (OptionFacts::reproduces_run), such as who
/// leaves or how long ranks wait: each start has its own, and over MPI the text is a peer's.
/// @throws ConfigError naming source and option, and for a text that is no configuration.
void require_kept_options(const ConfigText& of_run);
/// What `sotto train` reads from a configuration file, or from a part of one. @throws ConfigError.
[[nodiscard]] TrainConfig train_config_of(const ConfigText& config);

}  // namespace sotto
