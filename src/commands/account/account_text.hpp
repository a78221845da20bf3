#pragma once

#include <string>

#include "account/account_job.hpp"
#include "account/account_result.hpp"

namespace sotto {

/// The text that `sotto account` prints: the worst pairs, and a table by distance.
[[nodiscard]] std::string account_report_text(const AccountResult& result,
                                              const AccountConfig& config,
                                              const AccountSubject& subject);
/// The same for account_matrices.
[[nodiscard]] std::string matrices_report_text(const AccountResult& result,
                                               double sensitivity,
                                               double delta);

/// The JSON object of `sotto account` (docs/cli.md), as text.
[[nodiscard]] std::string account_report_json(const AccountResult& result,
                                              const AccountConfig& config,
                                              const AccountSubject& subject);
/// The same for account_matrices.
[[nodiscard]] std::string matrices_report_json(const AccountResult& result,
                                               double sensitivity,
                                               double delta);

}  // namespace sotto
