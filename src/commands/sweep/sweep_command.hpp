#pragma once

#include "commands/cli/command.hpp"

namespace sotto::cli {

[[nodiscard]] Command sweep_command();

}  // namespace sotto::cli
