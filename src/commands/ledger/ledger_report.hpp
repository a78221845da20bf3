#pragma once

#include <string>

#include "account/composed_runs.hpp"
#include "store/budget_account_file.hpp"

namespace sotto {

/// What `sotto ledger DIR...` prints for people: the runs, what they come to for every agent, and
/// what that assumes.
[[nodiscard]] std::string ledger_report_text(const ComposedRuns& composed);
/// Its JSON object (docs/ledger.md), as text.
[[nodiscard]] std::string ledger_report_json(const ComposedRuns& composed);

/// What `sotto ledger --budget-account FILE` prints for people: what may be spent, what each run
/// did, and what is left.
[[nodiscard]] std::string kept_account_text(const KeptAccount& kept, const std::string& path);
/// Its JSON object (docs/ledger.md), as text.
[[nodiscard]] std::string kept_account_json(const KeptAccount& kept, const std::string& path);

}  // namespace sotto
