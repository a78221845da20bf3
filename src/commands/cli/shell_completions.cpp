#include "commands/cli/shell_completions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace sotto::cli {

namespace {

constexpr std::string_view origin =
    "# Made from the options' declarations by sotto_option_pages.\n";

constexpr std::string_view bash_functions = R"(
_sotto_reply() { # WORDS...: those that begin with $value; FILE and DIR stand for paths
    local word found=()
    for word; do
        case $word in
        FILE) compopt -o filenames; mapfile -t found < <(compgen -f -- "$value") ;;
        DIR) compopt -o filenames; mapfile -t found < <(compgen -d -- "$value") ;;
        *) [[ $word != "$value"* ]] || found=("$word") ;;
        esac
        COMPREPLY+=("${found[@]}")
        found=()
    done
    # A beginning goes on with what is typed.
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *: ]] || compopt -o nospace
    # Readline completes what stands behind the last of its word breaks.
    local breaks=''
    [[ $COMP_WORDBREAKS != *=* ]] || breaks+='='
    [[ $COMP_WORDBREAKS != *:* ]] || breaks+=':'
    COMPREPLY=("${COMPREPLY[@]/#/$prefix}")
    [[ -z $breaks || $current != *["$breaks"]* ]] ||
        COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*["$breaks"]}"}"}")
}

_sotto() {
    local line=${COMP_LINE:0:COMP_POINT} words=() current option='' takes value prefix='' start=0 i
    local -a options=() tokens=()
    COMPREPLY=()
    read -ra words <<<"$line"
    [[ $line != *[[:space:]] ]] || words+=('')
    for ((i = 1; i + 1 < ${#words[@]}; ++i)); do
        # Behind -- stands another command line, perhaps with sotto in it.
        if [[ ${words[i]} == -- ]]; then
            start=-1
        elif ((start < 0)) && [[ ${words[i]} == sotto || ${words[i]} == */sotto ]]; then
            start=$i
            break
        fi
    done
    current=${words[-1]} value=${words[-1]}
    if ((start < 0)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$value")
        return
    fi
    words=("${words[@]:start}")
    if ((${#words[@]} <= 2)); then
        _sotto_reply "${_sotto_commands[@]}" --help --version
        return
    fi
    if [[ $current == --*=* ]]; then
        option=${current%%=*} value=${current#*=} prefix=$option=
    elif [[ ${words[-2]} == --* && ${words[-2]} != *=* ]]; then
        option=${words[-2]}
    fi
    _sotto_options "${words[1]}" "$option"
    if [[ -n $option && $takes != nothing ]]; then
        _sotto_reply "${tokens[@]}"
    elif [[ $current == -* ]]; then
        _sotto_reply "${options[@]}"
    else
        _sotto_options "${words[1]}" ''
        _sotto_reply "${tokens[@]}"
    fi
}

complete -F _sotto sotto
)";

constexpr std::string_view zsh_functions = R"(
_sotto_values() { # what an option takes: words, beginnings that end in :, FILE, DIR
    local -a whole begun
    local word found=1
    for word; do
        case $word in
        FILE) _files && found=0 ;;
        DIR) _files -/ && found=0 ;;
        *:) begun+=($word) ;;
        *) whole+=($word) ;;
        esac
    done
    (( $#whole )) && compadd -- $whole && found=0
    (( $#begun )) && compadd -S '' -- $begun && found=0
    return found
}

_sotto_launched() { # behind supervise --: another command line, perhaps with sotto in it
    local at=${words[(I)(sotto|*/sotto)]}
    if (( at && at < CURRENT )); then
        words=("${(@)words[at,-1]}")
        (( CURRENT -= at - 1 ))
        _sotto
    else
        _command_names || _default
    fi
}

_sotto() {
    local curcontext=$curcontext context state line
    local -a specs
    typeset -A opt_args
    local at=${words[(i)--]}
    if (( at < CURRENT )); then
        words=("${(@)words[at+1,-1]}")
        (( CURRENT -= at ))
        _sotto_launched
        return
    fi
    _arguments -C '(- *)--help[all commands]' '(- *)--version[version, commit and compiler]' \
        '1:command:_sotto_commands' '*:: :->options' && return
    [[ $state == options ]] || return
    _sotto_options $words[1]
    _arguments $specs
}

_sotto "$@"
)";

// ---- bash

std::string bash_completion_of_group(const CompletedGroup& group) {
    std::string text = fmt::format("    case $1 in\n    {})\n        options+=(",
                                   fmt::join(group.commands, " | "));
    std::string values;
    for (const CompletedOption& option : group.options) {
        text += fmt::format(" --{}", option.name);
        const std::string tokens = fmt::format("{}", fmt::join(value_tokens(option), " "));
        const std::string names =
            fmt::format("--{}{}", option.name, option.positional ? " | ''" : "");
        if (!option.takes_value)
            values += fmt::format("        {}) takes=nothing ;;\n", names);
        else if (!tokens.empty())
            values += fmt::format("        {}) tokens=({}) ;;\n", names, tokens);
    }
    text += " )\n";
    if (!values.empty()) text += fmt::format("        case $2 in\n{}        esac\n", values);
    return text + "        ;;\n    esac\n";
}

// ---- zsh

/// Quotes a text inside single quotes, and inside a specification of _arguments.
std::string zsh_quoted(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '\'')
            result += "'\\''";
        else if (c == '[' || c == ']' || c == ':' || c == '\\')
            result += {'\\', c};
        else
            result += c;
    }
    return result;
}

std::string zsh_specification(const CompletedOption& option) {
    const std::string help = zsh_quoted(option.help);
    if (!option.takes_value) return fmt::format("        '--{}[{}]'\n", option.name, help);
    const std::string values = zsh_quoted(fmt::format("{}", fmt::join(value_tokens(option), " ")));
    std::string text = fmt::format(
        "        '--{}=[{}]:{}: _sotto_values {}'\n", option.name, help, option.name, values);
    if (option.positional)
        text += fmt::format("        '*:{}: _sotto_values {}'\n", option.name, values);
    return text;
}

// ---- fish

std::string fish_quoted(std::string_view text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') result += '\\';
        result += c;
    }
    return result + "'";
}

/// The values that fish offers.
std::string fish_values(const CompletedOption& option) {
    std::vector<std::string> offered = option.words;
    if (option.folders) offered.emplace_back("(__fish_complete_directories)");
    const std::string words = fmt::format("{}", fmt::join(offered, " "));
    std::string text = option.files ? " -F" : "";
    if (!words.empty()) text += " -a " + fish_quoted(words);
    return text;
}

std::string fish_line(const std::string& condition, const CompletedOption& option) {
    const std::string start = fmt::format("complete -c sotto -n {}", fish_quoted(condition));
    std::string text = fmt::format("{} -l {} -d {}", start, option.name, fish_quoted(option.help));
    if (option.takes_value) text += (option.files ? " -r" : " -x") + fish_values(option);
    if (const std::string values = fish_values(option); option.positional && !values.empty())
        text += "\n" + start + values;
    return text + "\n";
}

}  // namespace

std::string bash_completion(const Registry<Command>& commands) {
    std::string text = fmt::format(
        "# Completions of sotto for bash.\n{}\n_sotto_commands=({})\n\n"
        "_sotto_options() {{ # COMMAND OPTION: `options`, and what the option `takes`, `tokens`\n"
        "    takes=value\n",
        origin,
        fmt::join(commands.names(), " "));
    for (const CompletedGroup& group : completed_groups(commands))
        text += bash_completion_of_group(group);
    return text + "}\n" + std::string(bash_functions);
}

std::string zsh_completion(const Registry<Command>& commands) {
    std::string text =
        fmt::format("#compdef sotto\n{}\n_sotto_commands() {{\n    local -a commands=(\n", origin);
    for (const Command& command : commands.records())
        text += fmt::format("        '{}:{}'\n", command.name, zsh_quoted(command.summary));
    text += "    )\n    _describe command commands\n}\n\n_sotto_options() { # COMMAND: `specs`\n";
    for (const CompletedGroup& group : completed_groups(commands)) {
        text += fmt::format("    case $1 in\n    ({}) specs+=(\n", fmt::join(group.commands, "|"));
        for (const CompletedOption& option : group.options) text += zsh_specification(option);
        text += "    ) ;;\n    esac\n";
    }
    return text + "}\n" + std::string(zsh_functions);
}

std::string fish_completion(const Registry<Command>& commands) {
    std::string text = fmt::format(
        "# Completions of sotto for fish.\n{}\ncomplete -c sotto -f\n"
        "complete -c sotto -n __fish_use_subcommand -l help -d 'all commands'\n"
        "complete -c sotto -n __fish_use_subcommand -l version -d 'version, commit and compiler'\n",
        origin);
    for (const Command& command : commands.records())
        text += fmt::format("complete -c sotto -n __fish_use_subcommand -a {} -d {}\n",
                            command.name,
                            fish_quoted(command.summary));
    for (const CompletedGroup& group : completed_groups(commands)) {
        const std::string condition =
            fmt::format("__fish_seen_subcommand_from {}", fmt::join(group.commands, " "));
        for (const CompletedOption& option : group.options) text += fish_line(condition, option);
    }
    return text;
}

namespace {

constexpr std::string_view file = "FILE", folder = "DIR";

/// Whether a text begins as placeholders do: NUMBER[kB|MB], FILE.npy.
bool is_upper_case(std::string_view text) {
    return std::isupper(static_cast<unsigned char>(text.front())) != 0;
}

/// Whether a text is a placeholder: H of "horizon:H", a,b of "coalition:a,b".
bool is_placeholder(std::string_view text) {
    return text.size() == 1 || text.find(',') != std::string_view::npos || is_upper_case(text);
}

/// The part before a placeholder: "horizon:" of "horizon:H".
std::string typed_part(const std::string& word) {
    const std::size_t colon = word.find(':');
    if (colon == std::string::npos || colon + 1 == word.size()) return word;
    return is_placeholder(std::string_view(word).substr(colon + 1)) ? word.substr(0, colon + 1)
                                                                    : word;
}

/// The beginning of a help text, short enough for one line.
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
        else if (is_upper_case(word))  // which stand for what users write
            continue;
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
