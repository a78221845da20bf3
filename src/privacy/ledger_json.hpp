#pragma once

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/json.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

/// ledger.json (docs/ledger.md). While `running`, or after a failure, when messages of a started
/// round may have been sent, the figures are those of all planned rounds: an upper bound that stays
/// valid if the process dies.
[[nodiscard]] std::string to_json(const Ledger& ledger,
                                  Ledger::Status status,
                                  long rounds_completed);

// Losses in ledgers and budget accounts.

/// An object with the parts present: "mu^2", "epsilon" and "sampled_rounds", a list of
/// {noise_multiplier, sampling_probability, count}.
/// @param loss finite.
[[nodiscard]] nlohmann::ordered_json rounds_json(const SampledRounds& rounds);
[[nodiscard]] nlohmann::ordered_json loss_json(const PrivacyLoss& loss);
/// Inverse of loss_json.
/// @throws DataError for unknown or missing keys, numbers that are not finite or out of range
/// (merged_rounds), or more than most_groups_read groups of rounds.
[[nodiscard]] PrivacyLoss loss_from_json(const JsonValue& json);

inline constexpr std::size_t most_groups_read = 10000;

/// The object `convex` of ledger.json; convex_from_json is its inverse: nothing if the ledger has
/// none.
/// @throws DataError for numbers out of range, or a step that is longer than they allow.
[[nodiscard]] nlohmann::ordered_json json_of(const ConvexLosses& convex);
[[nodiscard]] std::optional<ConvexLosses> convex_from_json(const JsonValue& ledger);

/// The object `secure_sums` of ledger.json and of `sotto plan --json` (docs/ledger.md).
[[nodiscard]] nlohmann::ordered_json json_of(const SumHiding& hiding);

}  // namespace sotto
