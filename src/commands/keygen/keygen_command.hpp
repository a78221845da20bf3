#pragma once

#include "commands/cli/command.hpp"

namespace sotto::cli {

[[nodiscard]] Command keygen_command();

}  // namespace sotto::cli
