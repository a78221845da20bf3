#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto {

/// Writes text; failures are reported at the end (require_written).
void write_text(std::FILE* out, std::string_view text);
/// Writes formatted text for users. A failed write does not stop the work: for standard output it
/// is reported at the end (require_written).
template <class... Values>
void say(std::FILE* out, fmt::format_string<Values...> format, Values&&... values) {
    write_text(out, fmt::format(format, std::forward<Values>(values)...));
}

/// Checks that everything written to this stream has arrived.
/// @param name of the stream in messages.
/// @throws as throw_write_failure.
void require_written(std::FILE* out, const std::string& name);

/// One word for a shell's command line, in apostrophes if needed.
[[nodiscard]] std::string shell_quoted(const std::string& word);
/// A command line.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

/// Writes "sotto: message" to standard error as exactly one line. Invisible and control characters,
/// which a message may quote from a damaged file or an argument, are escaped as in C: "\x1b",
/// "\u{feff}".
void print_error_line(std::string_view message);

}  // namespace sotto
