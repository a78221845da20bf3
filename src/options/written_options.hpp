#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options/option.hpp"

namespace sotto {

/// Texts of given options, by name.
using OptionTexts = std::map<std::string, std::string>;

/// An option and its value in one configuration.
struct WrittenOption : OptionFacts {
    OptionKind kind = OptionKind::value;
    AllowedValues allowed{};
    std::optional<std::string> text{};  ///< its value; none if not given
};
/// Inserts the allowed values into the help.
[[nodiscard]] WrittenOption written_option(const OptionFacts& facts,
                                           OptionKind kind,
                                           const AllowedValues& allowed,
                                           std::optional<std::string> text);

struct WrittenGroup {
    std::string title;
    std::vector<WrittenOption> options;
};

/// Null if there is no option of that name.
[[nodiscard]] const WrittenOption* find_option(const std::vector<WrittenGroup>& groups,
                                               std::string_view name);

/// The options that reproduce the run, as an INI file for `sotto <command>`.
/// @throws ConfigError for a value that the format cannot hold (# starts a comment).
[[nodiscard]] std::string ini_text(std::string_view command,
                                   const std::vector<WrittenGroup>& groups);

/// The options that all ranks of a training need in common (OptionFacts::ranks_must_agree), as
/// lines "--name value" or "--name not given".
[[nodiscard]] std::string agreement_lines(const std::vector<WrittenGroup>& groups);
/// The same for all options that reproduce the run, for jobs in which each rank computes from its
/// own options.
[[nodiscard]] std::string lines_of_all(const std::vector<WrittenGroup>& groups);

/// How to type an option: "--name VALUE", "--name", "--name [FILE]".
[[nodiscard]] std::string usage_of(const WrittenOption& option);
/// Allowed values that the help does not list; otherwise empty.
[[nodiscard]] std::string values_beside_help(const WrittenOption& option);
/// The default; empty if there is none.
[[nodiscard]] std::string default_of(const WrittenOption& option);

}  // namespace sotto
