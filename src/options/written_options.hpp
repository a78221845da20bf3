#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options/option.hpp"

namespace sotto {

/// Values of options that are given, by their names.
using OptionTexts = std::map<std::string, std::string>;

/// An option and what one configuration says about it.
struct WrittenOption : OptionFacts {
    OptionKind kind = OptionKind::value;
    AllowedValues allowed{};
    std::optional<std::string> text{};  ///< its value; none: not given
};
/// With the allowed values in their place in the help.
[[nodiscard]] WrittenOption written_option(const OptionFacts& facts,
                                           OptionKind kind,
                                           const AllowedValues& allowed,
                                           std::optional<std::string> text);

struct WrittenGroup {
    std::string title;
    std::vector<WrittenOption> options;
};

/// Null if there is none of that name.
[[nodiscard]] const WrittenOption* find_option(const std::vector<WrittenGroup>& groups,
                                               std::string_view name);

/// What reproduces the run, as an INI file that starts `sotto <command>` again.
/// @throws ConfigError for a value that the format cannot hold (# starts a comment).
[[nodiscard]] std::string ini_text(std::string_view command,
                                   const std::vector<WrittenGroup>& groups);

/// "--name value" or "--name not given", one a line: what all ranks of a training must have in
/// common (OptionFacts::ranks_must_agree).
[[nodiscard]] std::string agreement_lines(const std::vector<WrittenGroup>& groups);
/// The same of every option that reproduces the run: of jobs in which each rank computes from its
/// own options.
[[nodiscard]] std::string lines_of_all(const std::vector<WrittenGroup>& groups);

/// "--name VALUE", "--name", "--name [FILE]": how an option is typed.
[[nodiscard]] std::string usage_of(const WrittenOption& option);
/// Values that are allowed, where the help does not name them already; else empty.
[[nodiscard]] std::string values_beside_help(const WrittenOption& option);
/// Its default; empty where it has none.
[[nodiscard]] std::string default_of(const WrittenOption& option);

}  // namespace sotto
