#pragma once

#include <string_view>

namespace sotto {

/// Writes "sotto: message" to standard error as exactly one line: characters that are not seen or
/// control a terminal, which a message may quote from a damaged file or an argument, are escaped as
/// in C: "\x1b", "\u{feff}".
void print_error_line(std::string_view message);

}  // namespace sotto
