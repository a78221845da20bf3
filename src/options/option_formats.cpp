#include "options/option_formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iomanip>
#include <limits>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

std::string digits_of(double value, std::chars_format format) {
    std::array<char, 512> buffer;  // 1e-308 in full has 310 characters before its digits
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format).ptr;
    return {buffer.data(), end};
}

/// "1e-05" as "1e-5", "1e+04" as "1e4".
std::string without_padding(const std::string& scientific) {
    const std::size_t e = scientific.find('e');
    if (e == std::string::npos) return scientific;
    const std::size_t digits = scientific.find_first_not_of("+-0", e + 1);
    const std::string exponent =
        digits == std::string::npos ? std::string("0") : scientific.substr(digits);
    return scientific.substr(0, e + 1) + (scientific[e + 1] == '-' ? "-" : "") + exponent;
}

std::vector<std::string> read_words(const std::string& option, const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> values;
    for (std::string value; stream >> std::quoted(value);) values.push_back(value);
    if (values.empty()) throw ConfigError(fmt::format("{}: a value is needed", option));
    return values;
}

std::vector<std::string> read_distinct_words(const std::string& option, const std::string& text) {
    std::vector<std::string> values = read_words(option, text);
    for (auto value = values.begin(); value != values.end(); ++value)
        if (std::find(values.begin(), value, *value) != value)
            throw ConfigError(fmt::format("{}: the value {} is given twice", option, *value));
    return values;
}

std::string write_words(const std::vector<std::string>& values) {
    std::ostringstream stream;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) stream << ' ';
        if (values[i].find_first_of(" \t\"\\") == std::string::npos && !values[i].empty())
            stream << values[i];
        else
            stream << std::quoted(values[i]);
    }
    return stream.str();
}

/// A finite number that `check` accepts.
template <class Check>
OptionFormat<double> real_that(AllowedValues allowed, Check check) {
    return {std::move(allowed),
            [check](const std::string& option, const std::string& text) {
                const double value = parse_real(option, text);
                check(option, value);
                return value;
            },
            real_text};
}

}  // namespace

std::string real_text(double value) {
    std::string fixed = digits_of(value, std::chars_format::fixed);
    std::string scientific = without_padding(digits_of(value, std::chars_format::scientific));
    return scientific.size() < fixed.size() ? scientific : fixed;
}

void require_inside_unit_interval(const std::string& option, double value) {
    if (!(value > 0 && value < 1))
        throw ConfigError(fmt::format(
            "{}: {} is not allowed (must lie strictly between 0 and 1)", option, value));
}

OptionFormat<double> any_real() {
    return real_that(numbers_in({}, "a number"), [](const std::string&, double) {});
}

OptionFormat<double> positive_real() {
    return real_that(numbers_in({.minimum = 0, .ends = false}, "above 0"), require_positive);
}

OptionFormat<double> byte_count() {
    OptionFormat<double> format = positive_real();
    format.allowed =
        among_others("above 0, with kB, MB, GB or TB or without", {"NUMBER[kB|MB|GB|TB]"});
    format.read = [number = format.read](const std::string& option, const std::string& text) {
        double unit = 1;
        for (const std::string_view name : {"kB", "MB", "GB", "TB"}) {
            unit *= 1000;
            if (text.ends_with(name))
                return unit * number(option, text.substr(0, text.size() - name.size()));
        }
        return number(option, text);
    };
    return format;
}

OptionFormat<double> real_between(double minimum, double maximum) {
    return real_that(numbers_in({.minimum = minimum, .maximum = maximum},
                                fmt::format("{} to {}", real_text(minimum), real_text(maximum))),
                     [minimum, maximum](const std::string& option, double value) {
                         require_in_range(option, value, minimum, maximum);
                     });
}

OptionFormat<double> real_inside_unit_interval() {
    return real_that(numbers_in({.minimum = 0, .maximum = 1, .ends = false}, "above 0 and below 1"),
                     require_inside_unit_interval);
}

OptionFormat<long long> whole(long long minimum, long long maximum) {
    const bool bounded = maximum < std::numeric_limits<long long>::max();
    NumberRange range{.minimum = static_cast<double>(minimum), .whole = true};
    if (bounded) range.maximum = static_cast<double>(maximum);
    return {numbers_in(range,
                       bounded ? fmt::format("{} to {}", minimum, maximum)
                               : fmt::format("whole, at least {}", minimum)),
            [=](const std::string& option, const std::string& text) {
                const long long value = parse_integer(option, text);
                if (value < minimum)
                    throw ConfigError(fmt::format(
                        "{}: {} is not allowed (must be at least {})", option, value, minimum));
                if (bounded)
                    require_in_range(option,
                                     static_cast<double>(value),
                                     static_cast<double>(minimum),
                                     static_cast<double>(maximum));
                return value;
            },
            [](long long value) { return std::to_string(value); }};
}

std::optional<long> number_or_word(const std::string& option,
                                   const std::string& text,
                                   std::vector<std::string> words,
                                   long long minimum) {
    if (std::ranges::find(words, text) != words.end()) return std::nullopt;
    if (text.find_first_not_of("+-0123456789") != std::string::npos) {
        words.emplace_back("a whole number");
        throw unknown_name_error(option, text, words);
    }
    return static_cast<long>(whole(minimum).read(option, text));
}

OptionFormat<std::string> any_text(AllowedValues allowed) {
    return {std::move(allowed),
            [](const std::string&, const std::string& text) { return text; },
            [](const std::string& text) { return text; }};
}

OptionFormat<std::string> file_path() { return any_text(among_others("", {"FILE"})); }

OptionFormat<std::string> folder_path() { return any_text(among_others("", {"DIR"})); }

OptionFormat<std::string> some_text(AllowedValues allowed) {
    OptionFormat<std::string> format = any_text(std::move(allowed));
    format.read = [](const std::string& option, const std::string& text) {
        if (text.empty()) throw ConfigError(fmt::format("{}: a value is needed", option));
        return text;
    };
    return format;
}

OptionFormat<bool> flag() {
    constexpr NameTable<bool, 2> table{{{{true, "true"}, {false, "false"}}}};
    OptionFormat<bool> format = words(table);
    format.kind = OptionKind::flag;
    format.allowed = {};
    return format;
}

OptionFormat<bool> on_off() {
    constexpr NameTable<bool, 2> table{{{{true, "on"}, {false, "off"}}}};
    return words(table);
}

OptionFormat<std::vector<std::string>> word_list() {
    return {"one or more", read_distinct_words, write_words, OptionKind::list};
}

OptionFormat<std::vector<std::string>> path_list() {
    return {"one or more", read_words, write_words, OptionKind::list};
}

OptionFormat<std::vector<std::string>> folder_list() {
    OptionFormat<std::vector<std::string>> format = path_list();
    format.allowed.words = {"DIR"};
    return format;
}

namespace {

constexpr std::string_view eavesdropper = "eavesdropper";

int parse_agent(const std::string& option, std::string_view word) {
    const long long agent = parse_integer(option, word);
    require_in_range(option, static_cast<double>(agent), 0, 1e6);
    return static_cast<int>(agent);
}

void sort_agents(const std::string& option, std::vector<int>& agents) {
    std::ranges::sort(agents);
    const auto repeated = std::ranges::adjacent_find(agents);
    if (repeated != agents.end())
        throw ConfigError(
            fmt::format("{}: agent {} is named twice (name every agent once)", option, *repeated));
}

/// The parts between commas; a final comma adds none.
std::vector<std::string_view> list_items(std::string_view text) {
    std::vector<std::string_view> words = split(text, ',');
    if (words.back().empty()) words.pop_back();
    return words;
}

}  // namespace

std::vector<int> parse_agent_numbers(const std::string& option, const std::string& text) {
    std::vector<int> agents;
    for (const std::string_view word : list_items(text))
        agents.push_back(parse_agent(option, word));
    sort_agents(option, agents);
    return agents;
}

std::string agent_numbers_text(const std::vector<int>& agents) {
    return fmt::format("{}", fmt::join(agents, ","));
}

OptionFormat<std::vector<int>> agent_numbers() {
    return {"", parse_agent_numbers, agent_numbers_text};
}

RecordedNames parse_recorded_names(const std::string& option, const std::string& text) {
    RecordedNames recorded;
    for (const std::string_view word : list_items(text)) {
        if (word == eavesdropper) {
            if (recorded.wire)
                throw ConfigError(fmt::format("{}: {} is named twice", option, eavesdropper));
            recorded.wire = true;
            continue;
        }
        if (word.empty() || word.find_first_not_of("-0123456789") != std::string::npos)
            throw ConfigError(fmt::format(
                "{}: '{}' is neither an agent's number nor '{}'", option, word, eavesdropper));
        recorded.agents.push_back(parse_agent(option, word));
    }
    if (recorded.agents.empty() && !recorded.wire)
        throw ConfigError(fmt::format(
            "{}: no agent is named (example: 2,5; also allowed: {})", option, eavesdropper));
    sort_agents(option, recorded.agents);
    return recorded;
}

std::string recorded_names_text(const RecordedNames& recorded) {
    std::string text = agent_numbers_text(recorded.agents);
    if (recorded.wire) text += fmt::format("{}{}", text.empty() ? "" : ",", eavesdropper);
    return text;
}

namespace {

using Unit = std::pair<std::string_view, double>;
// Factors per second. Longer names come first, because each ends with the next.
constexpr std::array<Unit, 3> latency_units{{{"ms", 1e3}, {"us", 1e6}, {"s", 1}}};
/// Factors per bit.
constexpr std::array<Unit, 4> bandwidth_units{
    {{"kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}, {"bit", 1}}};

std::string names_of(std::span<const Unit> units) {
    std::vector<std::string> names;
    for (const auto& unit : units) names.emplace_back(unit.first);
    return join(names);
}

/// A number and the factor of its unit.
std::pair<double, double> read_quantity(std::string_view option,
                                        std::string_view text,
                                        std::span<const Unit> units) {
    for (const auto& [name, value] : units)
        if (text.size() > name.size() && text.ends_with(name))
            return {parse_real(option, text.substr(0, text.size() - name.size())), value};
    throw ConfigError(fmt::format("{}: '{}' is not allowed (must be a number followed by {})",
                                  option,
                                  text,
                                  names_of(units)));
}

int read_count(std::string_view option, std::string_view text) {
    const long long count = parse_integer(option, text);
    require_in_range(option, static_cast<double>(count), 1, std::numeric_limits<int>::max());
    return static_cast<int>(count);
}

}  // namespace

NetworkSpec parse_network(std::string_view option, std::string_view text) {
    const auto parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 4)
        throw ConfigError(
            fmt::format("{}: '{}' is not allowed (must be LATENCY:BANDWIDTH[:HOSTS[:RANKS]], as "
                        "10ms:100Mbit:3)",
                        option,
                        text));
    NetworkSpec spec;
    const std::string latency = fmt::format("{}, latency", option);
    const std::string bandwidth = fmt::format("{}, bandwidth", option);
    const auto [time, a_second] = read_quantity(latency, parts[0], latency_units);
    spec.latency_seconds = time / a_second;
    require_in_range(latency, spec.latency_seconds, 0, 3600);
    const auto [speed, bits] = read_quantity(bandwidth, parts[1], bandwidth_units);
    spec.bits_per_second = speed * bits;
    require_positive(bandwidth, spec.bits_per_second);
    if (parts.size() > 2) spec.hosts = read_count(fmt::format("{}, hosts", option), parts[2]);
    if (parts.size() > 3) spec.ranks = read_count(fmt::format("{}, ranks", option), parts[3]);
    return spec;
}

std::string name_of(const NetworkSpec& spec) {
    std::string text =
        fmt::format("{}s:{}bit", real_text(spec.latency_seconds), real_text(spec.bits_per_second));
    if (spec.hosts) text += fmt::format(":{}", *spec.hosts);
    if (spec.ranks) text += fmt::format(":{}", *spec.ranks);
    return text;
}

}  // namespace sotto
