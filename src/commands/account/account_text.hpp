#pragma once

#include <string>

#include "account/account_job.hpp"
#include "account/account_result.hpp"

namespace sotto {

/// What `sotto account` prints for people: the worst pairs, and a table by distance.
[[nodiscard]] std::string account_report_text(const AccountResult& result,
                                              const AccountConfig& config,
                                              const AccountSubject& subject);
/// The same of account_matrices.
[[nodiscard]] std::string matrices_report_text(const AccountResult& result,
                                               double sensitivity,
                                               double delta);

/// The JSON object of `sotto account` (docs/cli.md), as text.
[[nodiscard]] std::string account_report_json(const AccountResult& result,
                                              const AccountConfig& config,
                                              const AccountSubject& subject);
/// The same of account_matrices.
[[nodiscard]] std::string matrices_report_json(const AccountResult& result,
                                               double sensitivity,
                                               double delta);

}  // namespace sotto
