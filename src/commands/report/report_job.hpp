#pragma once

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "core/stopwatch.hpp"

namespace sotto {
/// What `sotto report` is asked.
struct ReportConfig {
    std::filesystem::path directory;  ///< of the run
    TrainConfig run;                  ///< of its config.ini
    /// Coalitions with every message, up to this size; none: the largest for which there are no
    /// more than most_observers, or fewer where many agents make each of them much work.
    std::optional<int> coalition_size;
    /// Seconds after which no observer is looked at any more: half of it for what single agents
    /// learn from their neighbours, a quarter for coalitions of them, all of it for every message.
    double time_limit = 20;
    int threads = 1;
};
}  // namespace sotto

namespace sotto {
/// What a run's page has from its accountant, as the page holds it: graph, noise, and what
/// observers learn.
struct ReportAccount {
    nlohmann::ordered_json graph;  ///< null where it is not known
    nlohmann::ordered_json views = nlohmann::ordered_json::array();
    nlohmann::ordered_json pictures = nlohmann::ordered_json::array();
    long observers = 0;                 ///< whose figures there are
    std::vector<std::string> missing;   ///< what the files of the run do not give, and why
    std::vector<std::string> left_out;  ///< for the time it takes, and how to have it
    double seconds = 0;                 ///< that it took
};

/// Looks at no further observer config.time_limit seconds after `start`. Of an audit that left no
/// history it is the graph alone.
/// @throws ConfigError if coalitions of the size that is asked for do not exist.
[[nodiscard]] ReportAccount report_account(const ReportConfig& config, Clock::time_point start);
}  // namespace sotto

namespace sotto {
/// The run's page: HTML that holds everything it shows, and fetches nothing.
struct Report {
    std::string page;
    std::string statement;  ///< the plain statement, as a page of its own
    long observers = 0;     ///< whose figures the page holds
    std::vector<std::string> missing;
    std::vector<std::string> left_out;  ///< for the time it takes, and how to have it
    double seconds = 0;
};
/// @throws ConfigError if this program was built without the libraries of the page, or coalitions
/// of that size do not exist; DataError for a directory without a readable ledger.
[[nodiscard]] Report make_report(const ReportConfig& config);

/// Of a page that is written again and again while its run goes on.
struct LivePage {
    int every = 0;  ///< seconds after which a browser opens it again; 0: it is not written any more
};

/// The page from the run's files as they are now.
/// @param account that may be of earlier files; null: there is none yet, and the page says so.
/// @param live none: the page is no live one.
/// @throws ConfigError if this program was built without the libraries of the page; DataError for
/// a directory without a readable ledger.
[[nodiscard]] Report make_page(const ReportConfig& config,
                               const ReportAccount* account,
                               const std::optional<LivePage>& live);
}  // namespace sotto

namespace sotto {
/// What a file of a run says, for the page.
struct RunFile {
    nlohmann::ordered_json content;
    std::string problem;  ///< why there is nothing to read; empty: it was read
};

/// A JSON file as it is; null where there is none to read.
[[nodiscard]] RunFile json_of_run(const std::filesystem::path& file);

/// metrics.csv by columns; what was not measured is null. {} where there is nothing to read.
[[nodiscard]] RunFile metrics_of_run(const std::filesystem::path& file);

/// Options of a run by groups, [{title, options: [[name, value], ...]}, ...], without the noise
/// seed. @param ini as sotto writes it: "# Title" before the options of a group.
[[nodiscard]] nlohmann::ordered_json options_of(const std::string& ini);

/// A manifest without keys and commitments, which nobody reads in a page; null as it is.
[[nodiscard]] nlohmann::ordered_json without_keys(nlohmann::ordered_json manifest);
}  // namespace sotto

namespace sotto::cli {
/// For people: where the page is, what is missing from it and what was left out.
void print_report(std::FILE* stream, const Report& report, const std::string& path);

/// The same as a JSON object. @param path of the page.
[[nodiscard]] nlohmann::ordered_json json_of_report(const Report& report, const std::string& path);
}  // namespace sotto::cli
