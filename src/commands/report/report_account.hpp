#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/report/report_config.hpp"
#include "sotto/core/stopwatch.hpp"

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
