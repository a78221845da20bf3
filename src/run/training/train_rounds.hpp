#pragma once

#include <functional>

#include "run/training/open_run.hpp"
#include "run/training_listener.hpp"

namespace sotto {

/// The rounds of this start, with everything that happens between them, and the models at the end.
/// Takes the run's agents and sums, and keeps its progress. COLLECTIVE.
/// @throws Error in one process; of several, one that fails ends all (end_failed_run).
void train_rounds(OpenRun& run,
                  TrainingListener& listener,
                  const std::function<bool()>& stop_requested);

}  // namespace sotto
