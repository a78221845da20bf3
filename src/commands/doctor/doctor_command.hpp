#pragma once

#include "commands/cli/command.hpp"

namespace sotto::cli {

[[nodiscard]] Command doctor_command();

}  // namespace sotto::cli
