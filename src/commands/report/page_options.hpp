#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "commands/report/report_config.hpp"
#include "options/option.hpp"

namespace sotto::cli {

/// What every command is asked that writes the page of a run's directory.
struct PageOptions {
    std::string run_directory;
    std::optional<std::string> out;
    std::optional<int> coalition_size;
    double time_limit = ReportConfig().time_limit;
};

/// The options "run-directory", "out", "coalition-size" and "time-limit".
[[nodiscard]] OptionGroup<PageOptions> page_options();

/// @throws ConfigError, beginning with the command's name, where no run is named.
void require_run_named(std::string_view command, const PageOptions& options);

/// What the page is made of. @throws ConfigError for a directory without a run.
[[nodiscard]] ReportConfig report_config_of(const PageOptions& options, int threads);

/// Where the page is written. @param name in the run's directory, where the options name no file.
[[nodiscard]] std::string page_file(const PageOptions& options, std::string_view name);

/// Beside the run a page is as private as the run; elsewhere its reader decides.
void write_page(const PageOptions& options, const std::string& file, const std::string& page);

}  // namespace sotto::cli
