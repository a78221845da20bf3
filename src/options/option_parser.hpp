#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/written_options.hpp"

namespace sotto {

/// Bytes an INI file may have.
inline constexpr std::uint64_t largest_config_bytes = std::uint64_t{1} << 20;

/// An INI file's content, and what to call it in messages.
struct ConfigText {
    std::string text, source;
};

/// Options of one command, from the command line and, where --config names a file, from there (the
/// command line wins). Only what is given; values are checked by who reads them (OptionSet).
/// @throws ConfigError for an option or configuration key that does not exist (with the nearest
/// one), a missing value, or stray words where no option is positional; DataError if the file
/// cannot be read.
/// @param config read instead of the file that --config names.
[[nodiscard]] OptionTexts parse_options(const std::vector<WrittenGroup>& groups,
                                        const std::vector<std::string>& arguments,
                                        const std::optional<ConfigText>& config = std::nullopt);

/// The options of one or several groups as --help shows them.
/// @param defaults what a configuration says in which nothing is given.
[[nodiscard]] std::string help_text(const std::vector<WrittenGroup>& defaults);
/// " [NAME]" of the positional option, for a line of usage; empty without one.
[[nodiscard]] std::string positional_usage(const std::vector<WrittenGroup>& groups);

}  // namespace sotto
