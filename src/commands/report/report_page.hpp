#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "commands/report/report_job.hpp"
#include "options/option.hpp"

namespace sotto {
/// @throws ConfigError, naming the packages, if this program was built without the libraries that
/// draw the page.
void require_page_libraries();

/// Escapes <, > and & for HTML.
[[nodiscard]] std::string html_text(const std::string& text);

/// HTML that makes a browser reload the page after so many seconds; empty for 0.
[[nodiscard]] std::string refresh_html(int seconds);

/// Fills in a page of this program (report.html, statement.html): each name in {{ }} is replaced by
/// one of these values, or else by an embedded file.
[[nodiscard]] std::string page_of(std::string_view frame,
                                  const std::map<std::string_view, std::string>& values);

/// A file built into the program (cmake/SottoPage.cmake lists them); empty if there is none.
[[nodiscard]] std::string_view embedded_file(std::string_view name);

/// Escapes JSON for an element of a page, so that nothing in it ends the element.
[[nodiscard]] std::string page_json(std::string data);
}  // namespace sotto

namespace sotto::cli {
/// The options of commands that write the page of a run directory.
struct PageOptions {
    std::string run_directory;
    std::optional<std::string> out;
    std::optional<int> coalition_size;
    double time_limit = ReportConfig().time_limit;
};

/// The options "run-directory", "out", "coalition-size" and "time-limit".
[[nodiscard]] OptionGroup<PageOptions> page_options();

/// @throws ConfigError, beginning with the command's name, if no run is named.
void require_run_named(std::string_view command, const PageOptions& options);

/// @throws ConfigError for a directory without a run.
[[nodiscard]] ReportConfig report_config_of(const PageOptions& options, int threads);

/// Where to write the page. @param name in the run directory, if the options name no file.
[[nodiscard]] std::string page_file(const PageOptions& options, std::string_view name);

/// Writes a page: to --out with the user's umask, else readable by its owner only.
void write_page(const PageOptions& options, const std::string& file, const std::string& page);
}  // namespace sotto::cli
