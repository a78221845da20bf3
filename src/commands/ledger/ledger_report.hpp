#pragma once

#include <string>

#include "account/composed_runs.hpp"

namespace sotto {

/// What `sotto ledger DIR...` prints for people: the runs, what they come to for every agent, and
/// what that assumes.
[[nodiscard]] std::string ledger_report_text(const ComposedRuns& composed);
/// Its JSON object (docs/ledger.md), as text.
[[nodiscard]] std::string ledger_report_json(const ComposedRuns& composed);

}  // namespace sotto
