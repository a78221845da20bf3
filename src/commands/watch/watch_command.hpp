#pragma once

#include "commands/cli/command.hpp"

namespace sotto::cli {

[[nodiscard]] Command watch_command();

}  // namespace sotto::cli
