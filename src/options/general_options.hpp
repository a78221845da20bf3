#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "options/option.hpp"
#include "options/written_options.hpp"

namespace sotto {

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

}  // namespace sotto
