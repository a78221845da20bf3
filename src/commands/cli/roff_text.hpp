#pragma once

#include <string>
#include <string_view>

namespace sotto::cli {

/// Text for a manual page, as it is: no letter of it means something to troff.
[[nodiscard]] std::string roff_literal(std::string_view text);
/// The same in bold, with hyphens that can be copied: names of options, commands, files.
[[nodiscard]] std::string roff_bold(std::string_view text);
/// Paragraphs of Markdown for a manual page: `code` is bold, a link to a page of docs is followed
/// by its path, any other by its address. A line each that troff fills.
/// @param separator macro between two paragraphs: ".PP", or ".IP" where they are indented.
[[nodiscard]] std::string roff_paragraphs(std::string_view markdown, std::string_view separator);

}  // namespace sotto::cli
