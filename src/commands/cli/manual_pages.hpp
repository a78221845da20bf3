#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "commands/cli/command.hpp"
#include "sotto/core/names.hpp"

namespace sotto::cli {

/// A page of section 1 of the manual, in troff's language (man macros).
struct ManualPage {
    std::string file;  ///< "sotto-train.1"
    std::string text;
};

/// sotto(1), and one page a command: what the records of commands, options and exit codes say. The
/// same text whenever and wherever it is made.
[[nodiscard]] std::vector<ManualPage> manual_pages(const Registry<Command>& commands);

/// Text for a manual page, as it is: no letter of it means something to troff.
[[nodiscard]] std::string roff_literal(std::string_view text);
/// The same in bold, with hyphens that can be copied: names of options, commands, files.
[[nodiscard]] std::string roff_bold(std::string_view text);
/// Paragraphs of Markdown for a manual page: `code` is bold, a link to a page of docs is followed
/// by its path, any other by its address. A line each that troff fills.
/// @param separator macro between two paragraphs: ".PP", or ".IP" where they are indented.
[[nodiscard]] std::string roff_paragraphs(std::string_view markdown, std::string_view separator);

}  // namespace sotto::cli
