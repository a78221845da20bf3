#pragma once

#include <string>
#include <vector>

#include "commands/report/report_config.hpp"

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

}  // namespace sotto
