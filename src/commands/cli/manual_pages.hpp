#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "commands/cli/command.hpp"
#include "sotto/core/names.hpp"

namespace sotto::cli {

/// A page of section 1 of the manual, in troff (man macros).
struct ManualPage {
    std::string file;  ///< "sotto-train.1"
    std::string text;
};

/// sotto(1) and one page per command, from the records of commands, options and exit codes. The
/// text is reproducible.
[[nodiscard]] std::vector<ManualPage> manual_pages(const Registry<Command>& commands);

/// Escapes text for troff.
[[nodiscard]] std::string roff_literal(std::string_view text);
/// Bold text with hyphens that can be copied: names of options, commands, files.
[[nodiscard]] std::string roff_bold(std::string_view text);
/// Converts paragraphs of Markdown, one line each: `code` becomes bold; a link to a page of docs is
/// followed by its path, any other link by its address.
/// @param separator macro between two paragraphs: ".PP", or ".IP" for indented ones.
[[nodiscard]] std::string roff_paragraphs(std::string_view markdown, std::string_view separator);

}  // namespace sotto::cli
