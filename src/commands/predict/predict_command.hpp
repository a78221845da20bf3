#pragma once

#include "commands/cli/command.hpp"

namespace sotto::cli {

[[nodiscard]] Command predict_command();

}  // namespace sotto::cli
