#include "commands/cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cctype>
#include <sstream>

#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/names.hpp"

namespace sotto::cli {

namespace po = boost::program_options;

namespace {

po::options_description description_of(const std::vector<OptionGroup>& groups) {
    po::options_description all;
    for (const auto& group : groups) {
        po::options_description part(group.title);
        for (const auto& option : group.options) {
            if (option.kind == Option::Kind::flag) {
                part.add_options()(option.name.c_str(), po::bool_switch(), option.help.c_str());
            } else {
                auto* value = po::value<std::string>()->value_name(
                    option.kind == Option::Kind::output ? "FILE|-" : "VALUE");
                if (option.kind == Option::Kind::output) value->implicit_value("-", "-");
                if (!option.default_text.empty()) value->default_value(option.default_text);
                part.add_options()(option.name.c_str(), value, option.help.c_str());
            }
        }
        all.add(part);
    }
    return all;
}

/// The name of the option that is positional; empty where there is none.
std::string positional_of(const std::vector<OptionGroup>& groups) {
    for (const auto& group : groups)
        for (const auto& option : group.options)
            if (option.positional) return option.name;
    return {};
}

std::vector<std::string> names_of(const std::vector<OptionGroup>& groups) {
    std::vector<std::string> names;
    for (const auto& group : groups)
        for (const auto& option : group.options) names.push_back(option.name);
    return names;
}

[[noreturn]] void throw_unknown(const std::string& where,
                                const std::string& name,
                                const std::vector<std::string>& allowed) {
    std::string message = fmt::format("{}: there is no option '{}'", where, name);
    if (const auto near = nearest_name(name, allowed))
        message += fmt::format("; did you mean '{}'?", *near);
    throw ConfigError(message);
}

/// "--json -" and a bare "--json": Boost takes "-" for a stray word, "--json=-" it understands.
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

}  // namespace

ParsedOptions::ParsedOptions(const std::vector<OptionGroup>& groups,
                             const std::vector<std::string>& arguments,
                             const std::optional<ConfigText>& config)
    : groups_(groups) {
    const po::options_description description = description_of(groups);
    const std::vector<std::string> names = names_of(groups);
    const std::string positional = positional_of(groups);
    po::variables_map map;
    std::map<std::string, bool> given;
    std::string where = "command line";
    const auto note_given = [&](const po::parsed_options& parsed) {
        for (const auto& option : parsed.options) given[option.string_key] = true;
    };
    try {
        constexpr int style =
            po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
        po::parsed_options parsed = po::command_line_parser(normalised(arguments))
                                        .options(description)
                                        .style(style)
                                        .allow_unregistered()
                                        .run();
        for (auto& option : parsed.options) {
            if (!option.unregistered && option.position_key == -1) continue;
            const std::string word = option.original_tokens.front();
            if (!word.starts_with("-")) {
                if (positional.empty())
                    throw ConfigError(
                        fmt::format("'{}' is not an option; options start with --", word));
                // Given twice, Boost says so.
                option = po::option(positional, {word});
                continue;
            }
            throw_unknown(where, word.substr(0, word.find('=')), [&] {
                std::vector<std::string> dashed;
                for (const auto& name : names) dashed.push_back("--" + name);
                return dashed;
            }());
        }
        note_given(parsed);
        po::store(parsed, map);
        if (config || map.contains("config")) {
            where = config ? config->source : map["config"].as<std::string>();
            std::istringstream content(config ? config->text : read_file(where));
            const po::parsed_options file = po::parse_config_file(content, description, true);
            for (const auto& option : file.options)
                if (option.unregistered) throw_unknown(where, option.string_key, names);
            note_given(file);
            po::store(file, map);
        }
    } catch (const po::error& error) {
        throw ConfigError(fmt::format("{}: {}", where, error.what()));
    }
    for (const auto& [name, value] : map) {
        const bool is_flag = value.value().type() == typeid(bool);
        values_[name] = {is_flag ? (value.as<bool>() ? "true" : "false") : value.as<std::string>(),
                         given.contains(name)};
    }
}

bool ParsedOptions::given(const std::string& name) const {
    const auto entry = values_.find(name);
    return entry != values_.end() && entry->second.given;
}

bool ParsedOptions::flag(const std::string& name) const { return text(name) == "true"; }

const std::string& ParsedOptions::text(const std::string& name) const {
    const auto entry = values_.find(name);
    if (entry == values_.end()) throw ConfigError(fmt::format("--{}: a value is needed", name));
    return entry->second.text;
}

double ParsedOptions::real(const std::string& name) const {
    return parse_real("--" + name, text(name));
}

long ParsedOptions::integer(const std::string& name, long minimum) const {
    const long long value = parse_integer("--" + name, text(name));
    if (value < minimum)
        throw ConfigError(
            fmt::format("--{}: {} is not allowed (must be at least {})", name, value, minimum));
    return static_cast<long>(value);
}

std::string ParsedOptions::as_ini(std::string_view command) const {
    std::string result =
        fmt::format("# Start this run again: sotto {} --config THIS_FILE\n", command);
    for (const auto& group : groups_) {
        std::string lines;
        for (const auto& option : group.options) {
            if (!option.reproduces_run || !has(option.name)) continue;
            if (text(option.name).find_first_of("#\n") != std::string::npos)
                throw ConfigError(fmt::format(
                    "--{}: '{}' holds a # or a line break, which the run's config.ini cannot keep",
                    option.name,
                    text(option.name)));
            lines += fmt::format("{} = {}\n", option.name, text(option.name));
        }
        if (!lines.empty()) result += "\n# " + group.title + "\n" + lines;
    }
    return result;
}

std::string ParsedOptions::as_lines() const {
    std::string result;
    for (const auto& group : groups_)
        for (const auto& option : group.options)
            if (option.reproduces_run)
                result += fmt::format(
                    "--{} {}\n", option.name, has(option.name) ? text(option.name) : "not given");
    return result;
}

std::string positional_usage(const std::vector<OptionGroup>& groups) {
    std::string name = positional_of(groups);
    if (name.empty()) return {};
    std::ranges::transform(
        name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return fmt::format(" [{}]", name);
}

std::string help_text(const std::vector<OptionGroup>& groups) {
    std::ostringstream stream;
    stream << description_of(groups);
    if (const std::string word = positional_of(groups); !word.empty())
        stream << fmt::format("A word by itself is the value of --{}.\n", word);
    return stream.str();
}

}  // namespace sotto::cli
