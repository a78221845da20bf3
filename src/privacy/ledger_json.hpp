#pragma once

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/json.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

/// The ledger as JSON text: ledger.json (docs/ledger.md). While `running` (or after a failure, when
/// messages of a started round may have left) the figures are those of all planned rounds: an upper
/// bound that stays true if the process dies before it can write again.
[[nodiscard]] std::string to_json(const Ledger& ledger,
                                  Ledger::Status status,
                                  long rounds_completed);

// Losses as ledgers and budget accounts hold them.

/// An object with the parts there are: "mu^2", "epsilon" and "sampled_rounds", a list of
/// {noise_multiplier, sampling_probability, count}. @param loss finite.
[[nodiscard]] nlohmann::ordered_json loss_json(const PrivacyLoss& loss);
/// Its inverse. @throws DataError for what is no such object: unknown or missing keys, numbers that
/// are not finite or out of range (merged_rounds), more than most_groups_read groups of rounds.
[[nodiscard]] PrivacyLoss loss_from_json(const JsonValue& json);

inline constexpr std::size_t most_groups_read = 10000;

/// The object `secure_sums` of ledger.json and of `sotto plan --json` (docs/ledger.md).
[[nodiscard]] nlohmann::ordered_json json_of(const SumHiding& hiding);

}  // namespace sotto
