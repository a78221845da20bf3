#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/report/report_account.hpp"
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
