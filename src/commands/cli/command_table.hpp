#pragma once

#include "commands/cli/command.hpp"
#include "sotto/core/registry.hpp"

namespace sotto::cli {

/// All subcommands.
[[nodiscard]] Registry<Command>& commands();

}  // namespace sotto::cli
