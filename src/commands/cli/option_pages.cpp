#include "commands/cli/option_pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "options/train_options.hpp"
#include "options/written_options.hpp"

namespace sotto::cli {

namespace {

/// A group of options, and the commands that have it.
struct SharedGroup {
    WrittenGroup group;
    std::vector<std::string> commands;
};

bool same_options(const WrittenGroup& one, const WrittenGroup& other) {
    return std::ranges::equal(
        one.options, other.options, [](const WrittenOption& a, const WrittenOption& b) {
            return a.name == b.name && a.help == b.help && a.text == b.text;
        });
}

std::vector<SharedGroup> shared_groups(const Registry<Command>& commands) {
    std::vector<SharedGroup> shared;
    for (const Command& command : commands.records())
        for (WrittenGroup& group : command.options()) {
            const auto known = std::ranges::find_if(shared, [&](const SharedGroup& candidate) {
                return candidate.group.title == group.title && same_options(candidate.group, group);
            });
            if (known != shared.end())
                known->commands.push_back(command.name);
            else
                shared.push_back({std::move(group), {command.name}});
        }
    return shared;
}

std::string file_of(const std::string& title) {
    std::string name = title;
    for (char& c : name)
        c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name + ".md";
}

/// Escapes the text of a cell of a Markdown table.
std::string cell(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '|') result += "\\|";
        if (c == '<') result += "&lt;";
        if (c != '|' && c != '<') result += c;
    }
    return result;
}

bool is_of_training(const WrittenGroup& group) {
    return std::ranges::any_of(train_option_set().groups(), [&](const auto& of_training) {
        return of_training.title == group.title;
    });
}

std::string table_of(const WrittenGroup& group) {
    const bool training = is_of_training(group);
    std::string text = "| option | default | values | meaning | beside a run |";
    if (training) text += " ranks | rank 0 sets it | config.ini |";
    text += training ? "\n|---|---|---|---|---|---|---|---|\n" : "\n|---|---|---|---|---|\n";
    for (const WrittenOption& option : group.options) {
        text += fmt::format("| `{}` | {} | {} | {}{} | {} |",
                            usage_of(option),
                            cell(default_of(option)),
                            cell(values_beside_help(option)),
                            cell(option.help),
                            option.positional ? "; a word by itself is its value" : "",
                            option.beside_run ? "yes" : "");
        if (training)
            text += fmt::format(" {} | {} | {} |",
                                option.ranks_must_agree ? "same" : "",
                                !option.peers_may_set ? "never"
                                : option.shapes_sums  ? "not with secure sums"
                                                      : "",
                                option.reproduces_run ? "yes" : "");
        text += "\n";
    }
    return text;
}

std::string details_of(const WrittenGroup& group) {
    std::string text;
    for (const WrittenOption& option : group.options) {
        if (option.details.empty()) continue;
        const std::size_t start = option.details.find_first_not_of('\n');
        text += fmt::format("\n## `--{}`\n\n{}\n", option.name, option.details.substr(start));
    }
    return text;
}

std::string section_of(const SharedGroup& shared) {
    std::vector<std::string> commands;
    for (const std::string& name : shared.commands) commands.push_back("`sotto " + name + "`");
    return fmt::format("\nOf {}.\n\n{}{}",
                       fmt::join(commands, ", "),
                       table_of(shared.group),
                       details_of(shared.group));
}

}  // namespace

std::vector<OptionPage> option_pages(const Registry<Command>& commands) {
    std::vector<OptionPage> pages;
    for (const SharedGroup& shared : shared_groups(commands)) {
        const std::string file = file_of(shared.group.title);
        auto page = std::ranges::find(pages, file, &OptionPage::file);
        if (page == pages.end())
            page = pages.insert(
                pages.end(),
                {file,
                 fmt::format("<!-- sotto_option_pages writes this page; the options' declarations "
                             "say it. -->\n# Options: {}\n",
                             shared.group.title)});
        page->text += section_of(shared);
    }
    return pages;
}

}  // namespace sotto::cli
