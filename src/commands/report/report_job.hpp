#pragma once

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands/report/report_account.hpp"

namespace sotto {
/// The run's page: HTML that contains all it shows and loads nothing.
struct Report {
    std::string page;
    std::string statement;  ///< the plain statement, as a page of its own
    long observers = 0;     ///< number of observers with figures
    std::vector<std::string> missing;
    std::vector<std::string> left_out;  ///< as in ReportAccount
    double seconds = 0;
};
/// @throws ConfigError if this program was built without the libraries of the page, or for an
/// impossible coalition size; DataError for a directory without a readable ledger.
[[nodiscard]] Report make_report(const ReportConfig& config);

/// Settings of a page that is rewritten while its run goes on.
struct LivePage {
    int every = 0;  ///< seconds after which a browser reloads it; 0: it is no longer rewritten
};

/// The page made from the run's current files.
/// @param account may be computed from earlier files; null: not computed yet, and the page says so.
/// @param live none: the page is not a live one.
/// @throws ConfigError if this program was built without the libraries of the page; DataError for
/// a directory without a readable ledger.
[[nodiscard]] Report make_page(const ReportConfig& config,
                               const ReportAccount* account,
                               const std::optional<LivePage>& live);
}  // namespace sotto

namespace sotto {
/// The content of a file of a run, for the page.
struct RunFile {
    nlohmann::ordered_json content;
    std::string problem;  ///< why it could not be read; empty: it was read
};

/// A JSON file; null if it cannot be read.
[[nodiscard]] RunFile json_of_run(const std::filesystem::path& file);

/// metrics.csv by columns; null for what was not measured. {} if it cannot be read.
[[nodiscard]] RunFile metrics_of_run(const std::filesystem::path& file);

/// The options of a run by groups, [{title, options: [[name, value], ...]}, ...]. The value of the
/// noise seed is hidden. @param ini as sotto writes it: "# Title" before the options of a group.
[[nodiscard]] nlohmann::ordered_json options_of(const std::string& ini);

/// A manifest without keys and commitments, which nobody reads in a page; null stays null.
[[nodiscard]] nlohmann::ordered_json without_keys(nlohmann::ordered_json manifest);
}  // namespace sotto

namespace sotto::cli {
/// Prints where the page is, what is missing from it and what was left out.
void print_report(std::FILE* stream, const Report& report, const std::string& path);

/// The same as a JSON object. @param path of the page.
[[nodiscard]] nlohmann::ordered_json json_of_report(const Report& report, const std::string& path);
}  // namespace sotto::cli
