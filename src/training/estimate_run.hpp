#pragma once

#include "training/prepare_run.hpp"
#include "training/train_result.hpp"

namespace sotto {

/// Memory and time of the rounds, from a few rounds of gradients, throw-away noise and empty
/// messages; the same on every process. COLLECTIVE. @param prepared whose agents compute gradients.
[[nodiscard]] RunEstimate estimate_run(PreparedRun& prepared);

/// Gradients and throw-away noise of one round, in the slowest process; nothing else is sent.
/// COLLECTIVE. @return [s]
[[nodiscard]] double compute_seconds(PreparedRun& prepared);

}  // namespace sotto
