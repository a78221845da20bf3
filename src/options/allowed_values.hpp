#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/names.hpp"

namespace sotto {

/// Numbers from minimum to maximum; NaN is none of them.
struct NumberRange {
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    bool ends = true;    ///< minimum and maximum belong to it
    bool whole = false;  ///< whole numbers only
};

/// Which values an option takes: in words for people, and word by word for shells.
struct AllowedValues {
    std::string text{};  ///< in words; empty: any text, or the option's help says it
    /// Values as they are ("final", "cyclic-poisson:auto"), beginnings with what stands for the
    /// rest ("horizon:H", "coalition:a,b"), and paths ("FILE", "FILE.so", "DIR").
    std::vector<std::string> words{};
    std::optional<NumberRange> range{};  ///< of the numbers among them; none: it is not known

    AllowedValues() = default;
    AllowedValues(std::string in_words)  // NOLINT(google-explicit-constructor)
        : text(std::move(in_words)) {}
    AllowedValues(const char* in_words)  // NOLINT(google-explicit-constructor)
        : text(in_words) {}
    AllowedValues(std::string in_words, std::vector<std::string> single)
        : text(std::move(in_words)), words(std::move(single)) {}
};

/// One of these words, which the text lists.
[[nodiscard]] inline AllowedValues one_of(std::vector<std::string> words) {
    std::string text = join(words, ", ");
    return {std::move(text), std::move(words)};
}
/// The same values, of which those that are numbers lie in this range.
[[nodiscard]] inline AllowedValues numbers_in(NumberRange range, AllowedValues allowed) {
    allowed.range = range;
    return allowed;
}
/// Words among what the text, or the option's help, says.
[[nodiscard]] inline AllowedValues among_others(std::string text, std::vector<std::string> words) {
    return {std::move(text), std::move(words)};
}

}  // namespace sotto
