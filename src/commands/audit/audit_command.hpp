#pragma once

#include "commands/cli/command.hpp"

namespace sotto::cli {

[[nodiscard]] Command audit_command();

}  // namespace sotto::cli
