#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "commands/sweep/sweep_outcome.hpp"
#include "config/config.hpp"
#include "training/training_listener.hpp"

namespace sotto {

/// One training of a sweep, all agents in this process: its run directory, and how it ended. A
/// training that diverges or fails is an outcome too. LOCAL.
/// @param read gives the configuration; what it throws counts as a failure.  @param discard removes
/// the run directory of an earlier attempt, or of this one.  @param listener of the training.
/// @return nothing where it was stopped; then its run directory is gone.
[[nodiscard]] std::optional<SweepOutcome> train_once(const std::function<TrainConfig()>& read,
                                                     const std::filesystem::path& run_directory,
                                                     const std::function<void()>& discard,
                                                     int threads,
                                                     TrainingListener& listener,
                                                     const std::function<bool()>& stop_requested);

}  // namespace sotto
