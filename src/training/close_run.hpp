#pragma once

#include "sotto/core/stopwatch.hpp"
#include "training/open_run.hpp"
#include "training/train_result.hpp"

namespace sotto {

/// After the rounds: figures of all processes, the final ledger, summary and history. COLLECTIVE.
/// @param start of the job.  @throws Error, the same on every process.
[[nodiscard]] TrainResult close_run(OpenRun& run, Clock::time_point start);

}  // namespace sotto
