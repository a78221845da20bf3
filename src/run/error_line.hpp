#pragma once

#include <string_view>

namespace sotto {

/// Writes "sotto: message" to standard error as exactly one line: control characters, which a
/// message may quote from a damaged file or an argument, become '?'.
void print_error_line(std::string_view message);

}  // namespace sotto
