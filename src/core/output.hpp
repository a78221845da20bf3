#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto {

/// Writes text; what fails is found at the end (require_written).
void write_text(std::FILE* out, std::string_view text);
/// Writes text for people. What cannot be written ends no work that is under way: of standard
/// output the program says so at its end (require_written), and standard error is where it
/// would say it.
template <class... Values>
void say(std::FILE* out, fmt::format_string<Values...> format, Values&&... values) {
    write_text(out, fmt::format(format, std::forward<Values>(values)...));
}

/// That all of what was written to this stream has arrived.
/// @param name what to call it in the message.  @throws as throw_write_failure does.
void require_written(std::FILE* out, const std::string& name);

/// One word of a shell's command line, between apostrophes where its letters need that.
[[nodiscard]] std::string shell_quoted(const std::string& word);
/// A command line.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

/// Writes "sotto: message" to standard error as exactly one line: characters that are not seen or
/// control a terminal, which a message may quote from a damaged file or an argument, are escaped as
/// in C: "\x1b", "\u{feff}".
void print_error_line(std::string_view message);

}  // namespace sotto
