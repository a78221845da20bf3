#include "commands/cli/roff_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sotto::cli {

namespace {

/// @param copied whether hyphens and quotes must stay those of the keyboard.
std::string escaped(std::string_view text, bool copied) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool doubled =
            (i > 0 && text[i - 1] == '-') || (i + 1 < text.size() && text[i + 1] == '-');
        if (c == '\\')
            result += "\\e";
        else if (c == '-' && (copied || doubled))
            result += "\\-";
        else if (c == '^')
            result += "\\(ha";
        else if (c == '~')
            result += "\\(ti";
        else if (c == '`')
            result += "\\(ga";
        else if (c == '\'' && copied)
            result += "\\(aq";
        else
            result += c;
    }
    return result;
}

/// A line that begins with . or ' would be a request.
std::string as_text_line(std::string line) {
    if (line.starts_with('.') || line.starts_with('\'')) line.insert(0, "\\&");
    return line;
}

/// Where a link of a page in docs/cli leads: "docs/ledger.md", or its address.
std::string target_of(std::string_view link) {
    if (link.find("://") != std::string_view::npos) return std::string(link);
    while (link.starts_with("../")) link.remove_prefix(3);
    return "docs/" + std::string(link.substr(0, link.find('#')));
}

/// One paragraph.
std::string inline_text(std::string_view markdown) {
    std::string result;
    while (!markdown.empty()) {
        const std::size_t next = markdown.find_first_of("`[");
        result += roff_literal(markdown.substr(0, next));
        if (next == std::string_view::npos) break;
        markdown.remove_prefix(next);
        const std::size_t code_end = markdown.find('`', 1);
        const std::size_t link = markdown.find("]("), link_end = markdown.find(')', link);
        if (markdown.front() == '`' && code_end != std::string_view::npos) {
            result += roff_bold(markdown.substr(1, code_end - 1));
            markdown.remove_prefix(code_end + 1);
        } else if (markdown.front() == '[' && link < markdown.find(']') + 1 &&
                   link_end != std::string_view::npos) {
            result += fmt::format(
                "{} ({})",
                roff_literal(markdown.substr(1, link - 1)),
                roff_literal(target_of(markdown.substr(link + 2, link_end - link - 2))));
            markdown.remove_prefix(link_end + 1);
        } else {
            result += roff_literal(markdown.substr(0, 1));
            markdown.remove_prefix(1);
        }
    }
    return result;
}

/// Every line of it one that troff takes for text.
std::string text_lines(const std::string& text) {
    std::string result;
    std::size_t start = 0;
    while (start < text.size()) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        if (end > start) result += as_text_line(text.substr(start, end - start)) + "\n";
        start = end + 1;
    }
    return result;
}

}  // namespace

std::string roff_literal(std::string_view text) { return escaped(text, false); }

std::string roff_bold(std::string_view text) { return "\\fB" + escaped(text, true) + "\\fR"; }

std::string roff_paragraphs(std::string_view markdown, std::string_view separator) {
    std::string result;
    while (!markdown.empty()) {
        const std::size_t end = markdown.find("\n\n");
        const std::string paragraph = text_lines(inline_text(markdown.substr(0, end)));
        if (!paragraph.empty() && !result.empty()) result += fmt::format("{}\n", separator);
        result += paragraph;
        if (end == std::string_view::npos) break;
        markdown.remove_prefix(end + 2);
    }
    return result;
}

}  // namespace sotto::cli
