#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options/option.hpp"
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

/// Options of every command: what it says, and where.
struct GeneralOptions {
    std::optional<std::string> json;  ///< file, or "-"
    bool quiet = false;
};

/// --config, --json, --quiet, --help.
[[nodiscard]] OptionGroup<GeneralOptions>& general_options();
/// The options of a command, and these.
[[nodiscard]] std::vector<WrittenGroup> with_general(std::vector<WrittenGroup> groups);
[[nodiscard]] GeneralOptions read_general(const OptionTexts& given);

/// Finds out before a long job whether write_json will fail. @throws ConfigError.
void require_json_writable(const GeneralOptions& options);
/// Writes the JSON object where --json says, if it is there.
void write_json(const GeneralOptions& options, const std::string& json);
/// Where text for people goes: standard error when the JSON object has standard output, else
/// standard output; nowhere (null) with --quiet.
[[nodiscard]] std::FILE* report_stream(const GeneralOptions& options);

/// Refuses options beside the directory of a run that has them already (OptionFacts::beside_run).
/// @param reason of the message, behind the option's name.  @param also allowed.
/// @throws ConfigError naming the first that is refused, and those that are allowed.
void require_beside_run(const std::vector<WrittenGroup>& groups,
                        const OptionTexts& given,
                        std::string_view reason,
                        const std::vector<std::string>& also = {});

}  // namespace sotto
