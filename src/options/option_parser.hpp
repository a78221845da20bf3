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

/// Size limit of an INI file in bytes.
inline constexpr std::uint64_t largest_config_bytes = std::uint64_t{1} << 20;

/// Content of an INI file, and its name for messages.
struct ConfigText {
    std::string text, source;
};

/// Reads options of one command from the command line and from the file of --config; the command
/// line takes precedence. Returns only options that are given; the reader checks their values
/// (OptionSet).
/// @throws ConfigError for an unknown option or configuration key (suggesting the nearest one), a
/// missing value, or stray words without a positional option; DataError if the file cannot be read.
/// @param config read instead of the file of --config.
[[nodiscard]] OptionTexts parse_options(const std::vector<WrittenGroup>& groups,
                                        const std::vector<std::string>& arguments,
                                        const std::optional<ConfigText>& config = std::nullopt);

/// The options of the groups as --help shows them. @param defaults of an empty configuration.
[[nodiscard]] std::string help_text(const std::vector<WrittenGroup>& defaults);
/// " [NAME]" of the positional option, for the usage line; empty if there is none.
[[nodiscard]] std::string positional_usage(const std::vector<WrittenGroup>& groups);

/// Values of the options that every command has.
struct GeneralOptions {
    std::optional<std::string> json;  ///< file, or "-"
    bool quiet = false;
};

/// --config, --json, --quiet, --help.
[[nodiscard]] OptionGroup<GeneralOptions>& general_options();
/// Adds the general options to those of a command.
[[nodiscard]] std::vector<WrittenGroup> with_general(std::vector<WrittenGroup> groups);
[[nodiscard]] GeneralOptions read_general(const OptionTexts& given);

/// Checks before a long job whether write_json can succeed. @throws ConfigError.
void require_json_writable(const GeneralOptions& options);
/// Writes the JSON object to the file of --json, if given.
void write_json(const GeneralOptions& options, const std::string& json);
/// The stream for user text: standard error if the JSON object goes to standard output, otherwise
/// standard output; null with --quiet.
[[nodiscard]] std::FILE* report_stream(const GeneralOptions& options);

/// Refuses options together with the directory of a run that already sets them
/// (OptionFacts::beside_run).
/// @param reason in the message, after the option's name.  @param also additionally allowed.
/// @throws ConfigError naming the first refused option, and the allowed ones.
void require_beside_run(const std::vector<WrittenGroup>& groups,
                        const OptionTexts& given,
                        std::string_view reason,
                        const std::vector<std::string>& also = {});

}  // namespace sotto
