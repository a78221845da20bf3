#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

/// The candidate that `word` most likely meant, by edit distance (insertions, deletions,
/// substitutions and swaps of neighbouring letters); nothing when no candidate is near.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view word,
                                                      std::span<const std::string> candidates);

/// The error for a name that is not one of `allowed`; suggests the nearest one.
[[nodiscard]] ConfigError unknown_name_error(std::string_view what,
                                             std::string_view given,
                                             std::span<const std::string> allowed);

/// Strict numbers: the whole text must be one finite number.
/// @throws ConfigError naming `what`, the text, and what is allowed.
[[nodiscard]] double parse_real(std::string_view what, std::string_view text);
[[nodiscard]] long long parse_integer(std::string_view what, std::string_view text);

/// @throws ConfigError unless minimum <= value <= maximum; a NaN fails.
void require_in_range(std::string_view what, double value, double minimum, double maximum);
/// @throws ConfigError unless value is finite and > 0; a NaN fails.
void require_positive(std::string_view what, double value);

/// Two-way table between the values of an enumeration and their names on the command line.
template <class Enum, std::size_t N>
struct NameTable {
    std::array<std::pair<Enum, std::string_view>, N> entries;

    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> result;
        for (const auto& [value, name] : entries) result.emplace_back(name);
        return result;
    }
    [[nodiscard]] std::string name_of(Enum value) const {
        for (const auto& [candidate, name] : entries)
            if (candidate == value) return std::string(name);
        throw Error(ExitCode::other, "a value has no name in its table");
    }
    /// @throws ConfigError for a name that is not in the table.
    [[nodiscard]] Enum parse(std::string_view what, std::string_view text) const {
        for (const auto& [value, name] : entries)
            if (name == text) return value;
        throw unknown_name_error(what, text, names());
    }
};

/// The parts between separators, also empty ones; one part without a separator. They are views into
/// `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// "a", "a and b", "a, b and c"; used in messages.
[[nodiscard]] std::string join(std::span<const std::string> words, std::string_view last = " or ");

}  // namespace sotto
