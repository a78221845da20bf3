#pragma once

#include <string>

#include "store/budget_account_text.hpp"

namespace sotto {

/// What `sotto ledger --budget-account FILE` prints for people: what may be spent, what each run
/// did, and what is left.
[[nodiscard]] std::string kept_account_text(const KeptAccount& kept, const std::string& path);
/// Its JSON object (docs/ledger.md), as text.
[[nodiscard]] std::string kept_account_json(const KeptAccount& kept, const std::string& path);

}  // namespace sotto
