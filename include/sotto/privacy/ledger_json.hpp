#pragma once

#include <string>

#include "sotto/privacy/ledger.hpp"

namespace sotto {

/// The ledger as JSON text: ledger.json (docs/ledger.md). While `running` (or after a failure, when
/// messages of a started round may have left) the figures are those of all planned rounds: an upper
/// bound that stays true if the process dies before it can write again.
[[nodiscard]] std::string to_json(const Ledger& ledger,
                                  Ledger::Status status,
                                  long rounds_completed);

}  // namespace sotto
