#pragma once

#include "commands/cli/command.hpp"

namespace sotto::cli {

[[nodiscard]] Command ledger_command();

}  // namespace sotto::cli
