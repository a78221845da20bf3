#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "training/run.hpp"
#include "training/train_result.hpp"
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

/// The JSON object of `sotto train` (docs/cli.md), as text.
[[nodiscard]] std::string summary_json(const TrainResult& result, const PlanConfig& config);

/// How far noise moves the mean model in all rounds, over how far gradients can move it:
///
///     sqrt(d v sum_t eta_t^2) / (C sum_t eta_t),   v = variance of a round's noise in the mean
///
/// over agents, of one coordinate. Far above 1 the direction of what is learnt is that of noise.
/// Mixing keeps the mean over agents, so that noise of all rounds adds up in it. Not a number where
/// rounds share noise or it enters messages.
/// @param dimension d.
[[nodiscard]] double noise_over_gradients(const NoisePlan& plan,
                                          const PlanConfig& config,
                                          long dimension);

/// What is known to go wrong before the first round, on process 0: sentences, each with what to do.
[[nodiscard]] std::vector<std::string> warnings_before_rounds(const Run& run, long dimension);

/// What went wrong in a training that has ended, likewise.
[[nodiscard]] std::vector<std::string> warnings_after_rounds(const TrainResult& result);

}  // namespace sotto
