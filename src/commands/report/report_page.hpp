#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "commands/report/report_job.hpp"
#include "options/option.hpp"

namespace sotto {
/// @throws ConfigError naming the packages if this program was built without the libraries that
/// draw the page.
void require_page_libraries();

/// Text as it stands between tags of HTML: <, > and & have names.
[[nodiscard]] std::string html_text(const std::string& text);

/// What has a browser open the page again after so many seconds; nothing for 0.
[[nodiscard]] std::string refresh_html(int seconds);

/// A page of this program (report.html, statement.html) with what it names in {{ }} in its place:
/// one of these values, or else one of the program's files.
[[nodiscard]] std::string page_of(std::string_view frame,
                                  const std::map<std::string_view, std::string>& values);

/// A JSON object as it stands in an element of a page: nothing in it ends the element.
[[nodiscard]] std::string page_json(std::string data);
}  // namespace sotto

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
