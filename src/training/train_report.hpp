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

/// The full report at the end of a training.
[[nodiscard]] std::string summary_text(const TrainResult& result, const TrainConfig& config);

/// The verdict in about eight lines: the quality of the model against baselines, its cost in
/// privacy and time, what went wrong, and where to look next. @param cores of this host.
[[nodiscard]] std::string verdict_text(const TrainResult& result,
                                       const TrainConfig& config,
                                       int cores);

/// Writes the verdict to the report, or everything with --verbose and in a dry run; log.txt of the
/// run gets both. @param report null: the log only.
void tell_result(std::FILE* report, const TrainResult& result, const TrainConfig& config);

/// The JSON object of `sotto train` (docs/cli.md), as text.
[[nodiscard]] std::string summary_json(const TrainResult& result, const PlanConfig& config);

/// Variance of the mean over agents of a round's noise, of one coordinate.
[[nodiscard]] double mean_noise_variance(const NoisePlan& plan);

/// How far noise moves the mean model over all rounds, divided by how far gradients can move it:
///
///     sqrt(d v sum_t eta_t^2) / (C sum_t eta_t),   v = variance of a round's noise in the mean
///
/// over agents, of one coordinate. Far above 1, noise determines the direction of learning. Mixing
/// keeps the mean over agents, so the noise of all rounds adds up in it. Not a number if rounds
/// share noise or noise is added to messages. @param dimension d.
[[nodiscard]] double noise_over_gradients(const NoisePlan& plan,
                                          const PlanConfig& config,
                                          long dimension);

/// Known problems before the first round, on process 0: sentences, each with a remedy.
[[nodiscard]] std::vector<std::string> warnings_before_rounds(const Run& run, long dimension);

/// Problems of a completed training, likewise.
[[nodiscard]] std::vector<std::string> warnings_after_rounds(const TrainResult& result);

}  // namespace sotto
