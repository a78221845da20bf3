#pragma once

#include <string>
#include <vector>

namespace sotto::cli {

/// Runs the command that the arguments name; prints one line per error.
/// @return its exit code.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments);

}  // namespace sotto::cli
