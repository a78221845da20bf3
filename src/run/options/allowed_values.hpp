#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sotto/core/names.hpp"

namespace sotto {

/// Which values an option takes: in words for people, and word by word for shells.
struct AllowedValues {
    std::string text{};  ///< in words; empty: any text, or the option's help says it
    /// Values as they are ("final", "cyclic-poisson:auto"), beginnings with what stands for the
    /// rest ("horizon:H", "coalition:a,b"), and paths ("FILE", "FILE.so", "DIR").
    std::vector<std::string> words{};

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
/// Words among what the text, or the option's help, says.
[[nodiscard]] inline AllowedValues among_others(std::string text, std::vector<std::string> words) {
    return {std::move(text), std::move(words)};
}

}  // namespace sotto
