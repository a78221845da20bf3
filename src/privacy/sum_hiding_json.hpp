#pragma once

#include <nlohmann/json.hpp>

#include "sotto/privacy/sum_hiding.hpp"

namespace sotto {

/// The object `secure_sums` of ledger.json and of `sotto plan --json` (docs/ledger.md).
[[nodiscard]] nlohmann::ordered_json json_of(const SumHiding& hiding);

}  // namespace sotto
