#pragma once

#include <string>

#include "account/composed_runs.hpp"
#include "store/budget_account_file.hpp"

namespace sotto {

/// The text of `sotto ledger DIR...`: the runs, their total for every agent, and its assumptions.
[[nodiscard]] std::string ledger_report_text(const ComposedRuns& composed);
/// The same as JSON (docs/ledger.md).
[[nodiscard]] std::string ledger_report_json(const ComposedRuns& composed);

/// The text of `sotto ledger --budget-account FILE`: the budget, what each run spent, and what is
/// left.
[[nodiscard]] std::string kept_account_text(const KeptAccount& kept, const std::string& path);
/// The same as JSON (docs/ledger.md).
[[nodiscard]] std::string kept_account_json(const KeptAccount& kept, const std::string& path);

}  // namespace sotto
