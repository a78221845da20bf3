#pragma once

#include <string>

#include "commands/cli/options.hpp"
#include "commands/sweep/sweep.hpp"

namespace sotto::cli {

/// FILE, --output and what else is of the sweep itself, not of its trainings.
[[nodiscard]] OptionGroup sweep_options();

/// A sweep file (docs/sweeps.md): `name = value value ...` lines with options of `sotto train` and
/// of sweep_options(); every [section] is a variant, whose lines win over those before the first
/// section. Values that hold blanks stand in double quotes. Options given on the command line win
/// over the file.
/// @throws ConfigError naming file, key and what is allowed.
[[nodiscard]] SweepConfig read_sweep(const ParsedOptions& options,
                                     const std::string& text,
                                     const std::string& source);

}  // namespace sotto::cli
