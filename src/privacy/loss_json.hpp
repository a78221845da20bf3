#pragma once

// Losses as ledgers and budget accounts hold them; not installed.

#include <nlohmann/json_fwd.hpp>

#include "core/json_value.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// An object with the parts there are: "mu^2", "epsilon" and "sampled_rounds", a list of
/// {noise_multiplier, sampling_probability, count}. @param loss finite.
[[nodiscard]] nlohmann::ordered_json loss_json(const PrivacyLoss& loss);
/// Its inverse. @throws DataError for what is no such object: unknown or missing keys, numbers that
/// are not finite or out of range (merged_rounds), more than most_groups_read groups of rounds.
[[nodiscard]] PrivacyLoss loss_from_json(const JsonValue& json);

inline constexpr std::size_t most_groups_read = 10000;

}  // namespace sotto
