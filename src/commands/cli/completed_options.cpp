#include "commands/cli/completed_options.hpp"

#include <algorithm>
#include <cctype>

namespace sotto::cli {

namespace {

constexpr std::string_view file = "FILE", folder = "DIR";

/// Whether it stands for something: H of "horizon:H", a,b of "coalition:a,b".
bool is_placeholder(std::string_view text) {
    return text.size() == 1 || text.find(',') != std::string_view::npos ||
           std::isupper(static_cast<unsigned char>(text.front())) != 0;
}

/// Up to what is there to be typed: "horizon:" of "horizon:H".
std::string typed_part(const std::string& word) {
    const std::size_t colon = word.find(':');
    if (colon == std::string::npos || colon + 1 == word.size()) return word;
    return is_placeholder(std::string_view(word).substr(colon + 1)) ? word.substr(0, colon + 1)
                                                                    : word;
}

/// The first part of a help text; shells show it in one line.
std::string short_help(const std::string& help) {
    constexpr std::size_t longest = 72;
    std::string text = help.substr(0, std::min(help.find("; "), help.find(" (")));
    if (text.size() <= longest) return text;
    return text.substr(0, text.rfind(' ', longest - 3)) + "...";
}

}  // namespace

CompletedOption completed_option(const WrittenOption& option) {
    CompletedOption completed{.name = option.name,
                              .help = short_help(option.help),
                              .takes_value = option.kind != OptionKind::flag,
                              .positional = option.positional,
                              .words = {}};
    for (const std::string& word : option.allowed.words) {
        if (word.starts_with(file))
            completed.files = true;
        else if (word.starts_with(folder))
            completed.folders = true;
        else if (std::string part = typed_part(word);
                 std::ranges::find(completed.words, part) == completed.words.end())
            completed.words.push_back(std::move(part));
    }
    return completed;
}

std::vector<CompletedGroup> completed_groups(const Registry<Command>& commands) {
    struct Owned {
        CompletedOption option;
        std::vector<std::string> commands;
    };
    std::vector<Owned> all;
    for (const Command& command : commands.records())
        for (const WrittenGroup& group : command.options())
            for (const WrittenOption& option : group.options) {
                CompletedOption completed = completed_option(option);
                auto known = std::ranges::find(all, completed, &Owned::option);
                if (known == all.end()) known = all.insert(known, {std::move(completed), {}});
                known->commands.push_back(command.name);
            }
    std::vector<CompletedGroup> groups;
    for (Owned& owned : all) {
        auto group = std::ranges::find(groups, owned.commands, &CompletedGroup::commands);
        if (group == groups.end()) group = groups.insert(group, {std::move(owned.commands), {}});
        group->options.push_back(std::move(owned.option));
    }
    return groups;
}

std::vector<std::string> value_tokens(const CompletedOption& option) {
    std::vector<std::string> tokens = option.words;
    if (option.files) tokens.emplace_back(file);
    if (option.folders) tokens.emplace_back(folder);
    return tokens;
}

}  // namespace sotto::cli
