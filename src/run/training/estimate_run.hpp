#pragma once

#include "run/train_result.hpp"
#include "run/training/prepare_run.hpp"

namespace sotto {

/// Memory and time of the rounds, from a few rounds of gradients, throw-away noise and empty
/// messages; the same on every process. COLLECTIVE. @param prepared whose agents compute gradients.
[[nodiscard]] RunEstimate estimate_run(PreparedRun& prepared);

}  // namespace sotto
