#include "commands/cli/manual_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "commands/cli/exit_codes.hpp"
#include "options/option_parser.hpp"
#include "options/written_options.hpp"
#include "sotto/core/build_info.hpp"

namespace sotto::cli {

namespace {

constexpr std::string_view program_summary = "private peer-to-peer training over MPI";
constexpr std::string_view program_description = R"(
Every MPI rank is an agent that keeps its own data, or hosts several agents. Agents train one model together by exchanging models with
their neighbours in a graph, and add noise that is correlated across agents and rounds, so that mixing cancels most of it while the
messages of every agent stay private. What any agent, coalition or eavesdropper learns is accounted exactly, and an audit checks the
accounting against the messages that were really sent.

A command has its own page: `sotto-train`(1) is that of `sotto train`. Options may also come from an INI file, `--config FILE`; the
command line wins. `--json` writes one JSON object with the result.)";

std::string title_line(std::string name) {
    std::ranges::transform(
        name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return fmt::format(
        ".\\\" Made from the options' declarations by sotto_option_pages.\n"
        ".TH {} 1 \"\" \"sotto {}\" \"sotto\"\n",
        name,
        build_version());
}

std::string name_section(std::string_view name, std::string_view summary) {
    return fmt::format(".SH NAME\n{} \\- {}\n", roff_bold(name), roff_literal(summary));
}

std::string entry(const std::string& tag, const std::string& text) {
    return fmt::format(".TP\n{}\n{}", tag, roff_paragraphs(text, ".IP"));
}

std::string text_of_option(const WrittenOption& option) {
    std::string text = option.help;
    if (const std::string values = values_beside_help(option); !values.empty())
        text += fmt::format(" (values: {})", values);
    text += ".";
    if (option.positional) text += " A word by itself is its value.";
    if (const std::string standing = default_of(option); !standing.empty())
        text += fmt::format(" Default: {}.", standing);
    if (option.beside_run) text += " Can be given with the directory of a run.";
    if (!option.details.empty()) {
        const std::size_t start = option.details.find_first_not_of('\n');
        text += "\n\n" + option.details.substr(start);
    }
    return text;
}

std::string options_section(const std::vector<WrittenGroup>& groups) {
    std::string text = ".SH OPTIONS\n";
    for (const WrittenGroup& group : groups) {
        if (groups.size() > 1) text += fmt::format(".SS {}\n", roff_literal(group.title));
        for (const WrittenOption& option : group.options)
            text += entry(roff_bold(usage_of(option)), text_of_option(option));
    }
    return text;
}

std::string exit_status_section() {
    std::string text = ".SH EXIT STATUS\n";
    for (const ExitCodeRecord& record : exit_codes()) {
        std::string meaning(record.meaning);
        meaning += ".";
        if (!record.helps.empty()) meaning += fmt::format(" What helps: {}.", record.helps);
        text += entry(roff_bold(std::to_string(static_cast<int>(record.code))), meaning);
    }
    return text;
}

std::string example_section(const std::string& example) {
    return fmt::format(".SH EXAMPLES\n.EX\n{}\n.EE\n", roff_bold(example));
}

std::string files_section(const std::vector<std::pair<std::string, std::string>>& files) {
    if (files.empty()) return {};
    std::string text = ".SH FILES\n";
    for (const auto& [name, content] : files) text += entry(roff_bold(name), content + ".");
    return text;
}

std::string see_also(const std::vector<std::string>& pages) {
    std::string text = ".SH SEE ALSO\n";
    for (const std::string& page : pages) text += fmt::format("{}(1),\n", roff_bold(page));
    return text + roff_bold("mpirun") + "(1)\n.PP\nThe guides that this page calls docs/ are in " +
           roff_bold("share/doc/sotto/docs") + " of the installation.\n";
}

std::string page_of(const Command& command) {
    const std::vector<WrittenGroup> options = command.options();
    const std::string name = "sotto-" + command.name;
    return title_line(name) + name_section(name, command.summary) +
           fmt::format(".SH SYNOPSIS\n{}{} [options]\n.SH DESCRIPTION\n{}",
                       roff_bold("sotto " + command.name),
                       roff_literal(positional_usage(options)),
                       roff_paragraphs(command.description, ".PP")) +
           options_section(options) + example_section(command.example) + exit_status_section() +
           files_section(command.files) + see_also({"sotto"});
}

std::string program_page(const Registry<Command>& commands) {
    std::string text = title_line("sotto") + name_section("sotto", program_summary) +
                       fmt::format(
                           ".SH SYNOPSIS\n{0} command [options]\n.br\n{1} {0} {2}\n"
                           ".SH DESCRIPTION\n{3}.SH COMMANDS\n",
                           roff_bold("sotto"),
                           roff_bold("mpirun -n 20"),
                           "train [options]",
                           roff_paragraphs(program_description, ".PP"));
    std::vector<std::string> pages;
    for (const Command& command : commands.records()) {
        pages.push_back("sotto-" + command.name);
        text += entry(roff_bold(pages.back()) + "(1)", command.summary + ".");
    }
    text += ".SH OPTIONS\n" +
            entry(roff_bold("--help"),
                  "all commands; after a command: the options that most people use, and with "
                  "\"all\" after it all options.") +
            entry(roff_bold("--version"), "version, commit and compiler.");
    return text + exit_status_section() + see_also(pages);
}

}  // namespace

std::vector<ManualPage> manual_pages(const Registry<Command>& commands) {
    std::vector<ManualPage> pages{{"sotto.1", program_page(commands)}};
    for (const Command& command : commands.records())
        pages.push_back({"sotto-" + command.name + ".1", page_of(command)});
    return pages;
}

namespace {

/// @param copied keeps hyphens and quotes as typed, so that they can be copied.
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

/// Protects a first . or ', which would make the line a request.
std::string as_text_line(std::string line) {
    if (line.starts_with('.') || line.starts_with('\'')) line.insert(0, "\\&");
    return line;
}

/// The target of a link in docs/cli: "docs/ledger.md", or an address.
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

/// Makes every line a text line.
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
