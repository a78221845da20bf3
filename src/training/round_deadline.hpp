#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "training/run.hpp"

namespace sotto {

/// @throws ConfigError naming what cannot go on without messages that have not come, if
/// --round-deadline or --faults silent is given.
void require_possible_misses(const Run& run);

/// @throws ConfigError naming `option` for figures and recordings of a run that no fixed matrix
/// mixes: partial views cannot be asked for, and what is recorded is what all agents send.
void require_recordable(const TrainConfig& config, std::string_view option);

/// Rounds that are measured for --round-deadline auto; they begin together.
inline constexpr long measured_rounds = 5;

/// 1.2 times the 0.85 quantile: what is said of the slowest seventh of messages has no influence.
/// @param arrivals after how many seconds of a round messages were there; not empty.
[[nodiscard]] double deadline_for(std::vector<double> arrivals);

/// The same of all processes, of each at most as many figures as it hears messages in these rounds.
/// None if nobody hears another process. COLLECTIVE; the same on every process.
/// @throws ConfigError, the same on every process, for a figure that is no number.
[[nodiscard]] std::optional<double> agree_on_deadline(const Run& run,
                                                      const std::vector<double>& arrivals);

}  // namespace sotto
