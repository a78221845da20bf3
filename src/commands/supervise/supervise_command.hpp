#pragma once

#include "commands/cli/command.hpp"

namespace sotto::cli {

[[nodiscard]] Command supervise_command();

}  // namespace sotto::cli
