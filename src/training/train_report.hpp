#pragma once

#include <cstdio>
#include <string>

#include "training/training.hpp"

namespace sotto {

/// Everything there is to tell at the end of a training.
[[nodiscard]] std::string summary_text(const TrainResult& result, const TrainConfig& config);

/// The verdict: what the model is worth beside others, what that cost in privacy and time, what
/// went wrong, and where to look next. About eight lines.
/// @param cores of this host.
[[nodiscard]] std::string verdict_text(const TrainResult& result,
                                       const TrainConfig& config,
                                       int cores);

/// Tells people the verdict, or everything with --verbose and of a dry run; log.txt of the run has
/// both. @param report null: the log alone.
void tell_result(std::FILE* report, const TrainResult& result, const TrainConfig& config);

}  // namespace sotto
