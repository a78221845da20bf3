#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "learn/quantile_clipping.hpp"
#include "net/network.hpp"
#include "tasks/local_task.hpp"

namespace sotto {

/// The clip of --clip-norm auto. @param config with a rate, given or chosen.
[[nodiscard]] QuantileClip configured_clip(const TrainConfig& config);

/// The rate with which log C moves at most: 0.2 ([Andrew et al.]), and so little that noise makes
/// log C waver by about 0.2 (standard deviation): log C is drawn to its place with about 0.4 a
/// unit, so it wavers by rate v / 0.8, v the variance of noise on the measured part, of which
/// agents keep about 4 / n where plans leave a few times the trusted aggregator's noise.
/// @param records of every agent.  @throws as build_exposures and build_budgets.
[[nodiscard]] double clip_rate_for(const TrainConfig& config,
                                   int agents,
                                   const std::vector<Eigen::Index>& records);

/// With --clip-norm auto: makes the task's agents learn their clip, at the rate that process 0
/// chose where none is given, and leaves it in the configuration. COLLECTIVE.
/// @throws ConfigError where the task or the noise cannot be trained with such a clip; NetworkError
/// where process 0 learns a clip and this one does not, or the other way, and for a rate that
/// process 0 must not choose; the same on every process.
void learn_clip(TrainConfig& config, Network& network, LocalTask& task);

/// What there is to say of it in the ledger; nothing where the clip is given.
[[nodiscard]] std::vector<std::string> clip_statements(const TrainConfig& config);

/// Where nobody learns a clip. @throws ConfigError if it is left open.
void require_given_clip(const PlanConfig& config);

}  // namespace sotto
