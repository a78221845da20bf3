#pragma once

#include <optional>
#include <string>

#include "commands/sweep/sweep_config.hpp"
#include "options/option_set.hpp"

namespace sotto::cli {

/// What `sotto sweep` understands beside the options of its trainings.
struct SweepOptions {
    SweepConfig sweep;
    std::string file;  ///< empty: not given
    std::optional<std::string> output;
};

/// FILE, --output and what else is of the sweep itself, not of its trainings.
[[nodiscard]] OptionGroup<SweepOptions>& sweep_options();
[[nodiscard]] OptionSet<SweepOptions> sweep_option_set();

/// A sweep file (docs/sweeps.md): `name = value value ...` lines with options of `sotto train` and
/// of sweep_options(); every [section] is a variant, whose lines win over those before the first
/// section. Values that hold blanks stand in double quotes. Options given on the command line win
/// over the file. `threads` is as it is asked for: 0 for all cores.
/// @param text of the file.  @param source what to call it in messages.
/// @throws ConfigError naming file, key and what is allowed.
[[nodiscard]] SweepConfig read_sweep(const OptionTexts& given,
                                     const std::string& text,
                                     const std::string& source);

}  // namespace sotto::cli
