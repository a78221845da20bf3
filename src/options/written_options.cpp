#include "options/written_options.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// Text of an option in the comparison between ranks.
std::string agreed_text(const WrittenOption& option) {
    if (!option.text) return "not given";
    if (option.kind == OptionKind::flag) return *option.text == "true" ? "on" : "off";
    return *option.text;
}

void require_fits_ini(const WrittenOption& option) {
    if (option.text->find_first_of("#\n") != std::string::npos)
        throw ConfigError(fmt::format(
            "--{}: '{}' holds a # or a line break, which the run's config.ini cannot keep",
            option.name,
            *option.text));
}

}  // namespace

WrittenOption written_option(const OptionFacts& facts,
                             OptionKind kind,
                             const AllowedValues& allowed,
                             std::optional<std::string> text) {
    WrittenOption option{facts, kind, allowed, std::move(text)};
    if (const std::size_t place = option.help.find("{}"); place != std::string::npos)
        option.help.replace(place, 2, allowed.text);
    return option;
}

const WrittenOption* find_option(const std::vector<WrittenGroup>& groups, std::string_view name) {
    for (const WrittenGroup& group : groups)
        for (const WrittenOption& option : group.options)
            if (option.name == name) return &option;
    return nullptr;
}

std::string ini_text(std::string_view command, const std::vector<WrittenGroup>& groups) {
    std::string result =
        fmt::format("# Start this run again: sotto {} --config THIS_FILE\n", command);
    for (const WrittenGroup& group : groups) {
        std::string lines;
        for (const WrittenOption& option : group.options) {
            if (!option.reproduces_run || !option.text) continue;
            require_fits_ini(option);
            lines += fmt::format("{} = {}\n", option.name, *option.text);
        }
        if (!lines.empty()) result += "\n# " + group.title + "\n" + lines;
    }
    return result;
}

std::string agreement_lines(const std::vector<WrittenGroup>& groups) {
    std::string lines;
    for (const WrittenGroup& group : groups)
        for (const WrittenOption& option : group.options)
            if (option.ranks_must_agree)
                lines += fmt::format("--{} {}\n", option.name, agreed_text(option));
    return lines;
}

std::string lines_of_all(const std::vector<WrittenGroup>& groups) {
    std::string lines;
    for (const WrittenGroup& group : groups)
        for (const WrittenOption& option : group.options)
            if (option.reproduces_run)
                lines += fmt::format("--{} {}\n", option.name, agreed_text(option));
    return lines;
}

std::string usage_of(const WrittenOption& option) {
    switch (option.kind) {
        case OptionKind::flag:
            return "--" + option.name;
        case OptionKind::output:
            return "--" + option.name + " [FILE]";
        case OptionKind::list:
            return "--" + option.name + " \"VALUE ...\"";
        case OptionKind::value:
            break;
    }
    return "--" + option.name + " VALUE";
}

std::string values_beside_help(const WrittenOption& option) {
    const std::string& allowed = option.allowed.text;
    return option.help.find(allowed) == std::string::npos ? allowed : std::string();
}

std::string default_of(const WrittenOption& option) {
    if (!option.standing.empty()) return option.standing;
    return option.kind == OptionKind::flag ? std::string() : option.text.value_or("");
}

}  // namespace sotto
