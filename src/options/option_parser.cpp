#include "options/option_parser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cctype>
#include <sstream>

#include "core/files.hpp"
#include "core/output.hpp"
#include "core/text_input.hpp"
#include "options/option_formats.hpp"
#include "options/option_set.hpp"
#include "options/written_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace po = boost::program_options;

namespace {

po::options_description description_of(const std::vector<WrittenGroup>& groups) {
    po::options_description all;
    for (const auto& group : groups) {
        po::options_description part(group.title);
        for (const auto& option : group.options) {
            if (option.kind == OptionKind::flag) {
                part.add_options()(option.name.c_str(), po::bool_switch(), option.help.c_str());
            } else {
                auto* value = po::value<std::string>()->value_name(
                    option.kind == OptionKind::output ? "FILE|-" : "VALUE");
                if (option.kind == OptionKind::output) value->implicit_value("-", "-");
                if (const std::string standing = default_of(option); !standing.empty())
                    value->default_value(standing);
                part.add_options()(option.name.c_str(), value, option.help.c_str());
            }
        }
        all.add(part);
    }
    return all;
}

/// The positional option; null if there is none.
const WrittenOption* positional_of(const std::vector<WrittenGroup>& groups) {
    for (const auto& group : groups)
        for (const auto& option : group.options)
            if (option.positional) return &option;
    return nullptr;
}

/// @param before prefix of every name.
std::vector<std::string> names_of(const std::vector<WrittenGroup>& groups,
                                  const std::string& before) {
    std::vector<std::string> names;
    for (const auto& group : groups)
        for (const auto& option : group.options) names.push_back(before + option.name);
    return names;
}

/// The name here of an option of another program.
std::optional<std::string> name_of_another_program(const std::vector<WrittenGroup>& groups,
                                                   std::string name) {
    std::ranges::replace(name, '_', '-');
    for (const auto& group : groups)
        for (const auto& option : group.options)
            if (std::ranges::find(option.other_names, name) != option.other_names.end())
                return option.name;
    return std::nullopt;
}

/// @param before prefix of every name.
[[noreturn]] void throw_unknown(const std::string& where,
                                const std::string& name,
                                const std::vector<WrittenGroup>& groups,
                                const std::string& before) {
    std::string message = fmt::format("{}: there is no option '{}'", where, name);
    const std::size_t first_letter = std::min(name.find_first_not_of('-'), name.size());
    if (const auto here = name_of_another_program(groups, name.substr(first_letter)))
        message += fmt::format("; did you mean '{}{}'?", before, *here);
    else if (const auto near = nearest_name(name, names_of(groups, before)))
        message += fmt::format("; did you mean '{}'?", *near);
    throw ConfigError(message);
}

/// Joins "--json -" and a bare "--json" to "--json=-": Boost takes a separate "-" for a stray word.
std::vector<std::string> normalised(const std::vector<std::string>& arguments) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--json") {
            const bool has_value = i + 1 < arguments.size() &&
                                   (arguments[i + 1] == "-" || !arguments[i + 1].starts_with("-"));
            result.push_back("--json=" + (has_value ? arguments[++i] : std::string("-")));
        } else {
            result.push_back(arguments[i]);
        }
    }
    return result;
}

po::parsed_options parse_arguments(const std::vector<WrittenGroup>& groups,
                                   const po::options_description& description,
                                   const std::vector<std::string>& arguments) {
    constexpr int style =
        po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::parsed_options parsed = po::command_line_parser(normalised(arguments))
                                    .options(description)
                                    .style(style)
                                    .allow_unregistered()
                                    .run();
    const WrittenOption* const positional = positional_of(groups);
    std::vector<std::string> words;
    std::erase_if(parsed.options, [&](const po::option& option) {
        if (!option.unregistered && option.position_key == -1) return false;
        const std::string word = option.original_tokens.front();
        if (word.starts_with("-"))
            throw_unknown("command line", word.substr(0, word.find('=')), groups, "--");
        if (positional == nullptr)
            throw ConfigError(fmt::format("'{}' is not an option; options start with --", word));
        words.push_back(word);
        return true;
    });
    if (words.empty()) return parsed;
    // Boost reports a repeated one.
    if (positional->kind == OptionKind::list) words = {path_list().write(words)};
    for (const std::string& word : words)
        parsed.options.emplace_back(positional->name, std::vector{word});
    return parsed;
}

po::parsed_options parse_file(const std::vector<WrittenGroup>& groups,
                              const po::options_description& description,
                              const ConfigText& config) {
    std::istringstream content(std::string(without_byte_order_mark(config.text)));
    po::parsed_options parsed = po::parse_config_file(content, description, true);
    for (const auto& option : parsed.options)
        if (option.unregistered) throw_unknown(config.source, option.string_key, groups, "");
    return parsed;
}

/// Stores the values of the parsed options.
void keep_values(const po::parsed_options& parsed,
                 const po::variables_map& map,
                 OptionTexts& texts) {
    for (const auto& option : parsed.options) {
        const po::variable_value& value = map[option.string_key];
        const bool is_flag = value.value().type() == typeid(bool);
        texts[option.string_key] =
            is_flag ? (value.as<bool>() ? "true" : "false") : value.as<std::string>();
    }
}

}  // namespace

OptionTexts parse_options(const std::vector<WrittenGroup>& groups,
                          const std::vector<std::string>& arguments,
                          const std::optional<ConfigText>& config) {
    const po::options_description description = description_of(groups);
    po::variables_map map;
    OptionTexts given;
    std::string where = "command line";
    try {
        const po::parsed_options parsed = parse_arguments(groups, description, arguments);
        po::store(parsed, map);
        keep_values(parsed, map, given);
        if (config || given.contains("config")) {
            where = config ? config->source : given.at("config");
            const po::parsed_options file = parse_file(
                groups,
                description,
                config ? *config : ConfigText{read_file(where, largest_config_bytes), where});
            po::store(file, map);
            keep_values(file, map, given);
        }
    } catch (const po::error& error) {
        throw ConfigError(fmt::format("{}: {}", where, error.what()));
    }
    return given;
}

std::string help_text(const std::vector<WrittenGroup>& defaults) {
    std::ostringstream stream;
    stream << description_of(defaults);
    if (const WrittenOption* const option = positional_of(defaults))
        stream << fmt::format("{} of --{}.\n",
                              option->kind == OptionKind::list ? "Words by themselves are values"
                                                               : "A word by itself is the value",
                              option->name);
    return stream.str();
}

std::string positional_usage(const std::vector<WrittenGroup>& groups) {
    const WrittenOption* const option = positional_of(groups);
    if (option == nullptr) return {};
    std::string name = option->name;
    std::ranges::transform(
        name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return fmt::format(" [{}{}]", name, option->kind == OptionKind::list ? "..." : "");
}

namespace {

OptionFormat<std::string> output_file() {
    OptionFormat<std::string> format = file_path();
    format.kind = OptionKind::output;
    return format;
}

OptionSet<GeneralOptions> general_set() {
    return OptionSet<GeneralOptions>().add(general_options());
}

}  // namespace

OptionGroup<GeneralOptions>& general_options() {
    static OptionGroup<GeneralOptions> group = option_group<GeneralOptions>(
        "General",
        {{{{.name = "config",
            .help = "INI FILE with any of these options; the command line wins",
            .details = R"(
Its lines are `name = value`, and `#` starts a comment. A mistyped option, key or value is an error that names the nearest one.)",
            .reproduces_run = false,
            .changes_results = false},
           bound_to_nothing<GeneralOptions>(OptionKind::value, among_others("", {"FILE"}))},
          {{.name = "json",
            .common = true,
            .help = "write one JSON object to FILE, or to standard output with -",
            .details = R"(
With `-`, or without a value, everything else goes to standard error. If standard output cannot be written, as on a full disk,
the exit code is 9.)",
            .reproduces_run = false,
            .beside_run = true,
            .changes_results = false},
           bound(&GeneralOptions::json, output_file())},
          {{.name = "quiet",
            .help = "no progress and no report",
            .reproduces_run = false,
            .beside_run = true,
            .changes_results = false},
           bound(&GeneralOptions::quiet, flag())},
          {{.name = "help",
            .help = "this text",
            .reproduces_run = false,
            .beside_run = true,
            .changes_results = false},
           bound_to_nothing<GeneralOptions>(OptionKind::flag)}}});
    return group;
}

std::vector<WrittenGroup> with_general(std::vector<WrittenGroup> groups) {
    for (WrittenGroup& group : general_set().written()) groups.push_back(std::move(group));
    return groups;
}

GeneralOptions read_general(const OptionTexts& given) { return general_set().read(given); }

void require_json_writable(const GeneralOptions& options) {
    if (options.json && *options.json != "-") require_writable(*options.json);
}

void write_json(const GeneralOptions& options, const std::string& json) {
    if (!options.json) return;
    if (*options.json == "-") {
        write_text(stdout, json);
        require_written(stdout, "standard output");
    } else {
        write_file_atomically(*options.json, json);
    }
}

std::FILE* report_stream(const GeneralOptions& options) {
    if (options.quiet) return nullptr;
    return options.json == "-" ? stderr : stdout;
}

void require_beside_run(const std::vector<WrittenGroup>& groups,
                        const OptionTexts& given,
                        std::string_view reason,
                        const std::vector<std::string>& also) {
    std::vector<std::string> allowed, refused;
    for (const WrittenGroup& group : groups)
        for (const WrittenOption& option : group.options) {
            if (option.beside_run || std::ranges::find(also, option.name) != also.end())
                allowed.push_back(option.name);
            else if (given.contains(option.name))
                refused.push_back(option.name);
        }
    if (!refused.empty())
        throw ConfigError(fmt::format(
            "--{}: {} (allowed: {})", refused.front(), reason, fmt::join(allowed, ", ")));
}

}  // namespace sotto
