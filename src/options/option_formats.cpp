#include "options/option_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iomanip>
#include <sstream>

#include "sotto/core/error.hpp"

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
            throw ConfigError(fmt::format("{}: the value {} is there twice", option, *value));
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

/// A finite number of which `check` approves.
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
                                   std::vector<std::string> words) {
    if (std::ranges::find(words, text) != words.end()) return std::nullopt;
    if (text.find_first_not_of("+-0123456789") != std::string::npos) {
        words.emplace_back("a whole number");
        throw unknown_name_error(option, text, words);
    }
    return static_cast<long>(whole(1).read(option, text));
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

}  // namespace sotto
