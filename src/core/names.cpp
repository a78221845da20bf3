#include "sotto/core/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace sotto {

namespace {

/// Edit distance with insertions, deletions, substitutions and swaps of neighbours, each costing 1.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    const std::size_t columns = b.size() + 1;
    std::vector<std::size_t> table((a.size() + 1) * columns);
    const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
        return table[i * columns + j];
    };
    for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
    for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
            at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
        }
    }
    return at(a.size(), b.size());
}

/// Parses the whole text as a number; invalid if anything follows it.
template <class Number>
std::errc parse_whole(std::string_view text, Number& value) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    return end == text.data() + text.size() ? status : std::errc::invalid_argument;
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view word,
                                        std::span<const std::string> candidates) {
    std::optional<std::string> best;
    std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const auto& candidate : candidates) {
        std::size_t distance = edit_distance(word, candidate);
        const bool is_prefix = word.size() >= 3 && candidate.starts_with(word);
        if (is_prefix) distance = std::min<std::size_t>(distance, 1);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

ConfigError unknown_name_error(std::string_view what,
                               std::string_view given,
                               std::span<const std::string> allowed) {
    std::string message = fmt::format("{}: unknown value '{}'", what, given);
    if (const auto near = nearest_name(given, allowed))
        message += fmt::format("; did you mean '{}'?", *near);
    message += fmt::format(" (allowed: {})", join(allowed, ", "));
    return ConfigError(message);
}

double parse_real(std::string_view what, std::string_view text) {
    double value = 0;
    const std::errc status = parse_whole(text, value);
    // Such a number has lost its digits, or is 0.
    if (status == std::errc::result_out_of_range || std::fpclassify(value) == FP_SUBNORMAL)
        throw ConfigError(
            fmt::format("{}: '{}' is too near to 0 or too large (allowed: 0, and numbers from "
                        "2.3e-308 to 1.7e308, with either sign)",
                        what,
                        text));
    if (status != std::errc() || !std::isfinite(value))
        throw ConfigError(fmt::format("{}: '{}' is not a finite number", what, text));
    return value;
}

long long parse_integer(std::string_view what, std::string_view text) {
    long long value = 0;
    if (parse_whole(text, value) != std::errc())
        throw ConfigError(fmt::format("{}: '{}' is not a whole number", what, text));
    return value;
}

void require_in_range(std::string_view what, double value, double minimum, double maximum) {
    if (!(value >= minimum && value <= maximum))
        throw ConfigError(fmt::format(
            "{}: {} is out of range (allowed: {} to {})", what, value, minimum, maximum));
}

void require_positive(std::string_view what, double value) {
    if (!(value > 0 && std::isfinite(value)))
        throw ConfigError(
            fmt::format("{}: {} is not allowed (must be a number above 0)", what, value));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::string join(std::span<const std::string> words, std::string_view last) {
    std::string result;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) result += i + 1 == words.size() ? last : std::string_view(", ");
        result += words[i];
    }
    return result;
}

}  // namespace sotto
