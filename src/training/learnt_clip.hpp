#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "learn/quantile_clipping.hpp"
#include "net/control.hpp"
#include "tasks/local_task.hpp"

namespace sotto {

/// The clip of --clip-norm learnt. @param config with a rate, given or chosen.
[[nodiscard]] QuantileClip configured_clip(const TrainConfig& config);

/// The largest rate at which log C moves: 0.2 ([Andrew et al.]), or less, so that noise makes log C
/// fluctuate by at most about 0.2 (standard deviation). Per unit of distance, log C is drawn to its
/// equilibrium with about 0.4, so it fluctuates by rate v / 0.8. Here v is the variance of noise on
/// the measured share, of which agents keep about 4 / n where plans leave a few times the noise of
/// a trusted aggregator.
/// @param records of every agent.  @throws as build_exposures and build_budgets.
[[nodiscard]] double clip_rate_for(const TrainConfig& config,
                                   int agents,
                                   const std::vector<Eigen::Index>& records);

/// With --clip-norm learnt, makes the task's agents learn their clip and writes it to the
/// configuration. Process 0 chooses the rate if none is given. COLLECTIVE.
/// @throws ConfigError if the task or the noise does not allow a learned clip. NetworkError if only
/// one of process 0 and this process learns a clip, or process 0 chose a rate that is not allowed.
/// The same on every process.
void learn_clip(TrainConfig& config, Control& network, LocalTask& task);

/// Statements on it for the ledger; none where the clip is given.
[[nodiscard]] std::vector<std::string> clip_statements(const TrainConfig& config);

/// For jobs that learn no clip. @throws ConfigError if the clip is left open.
void require_given_clip(const PlanConfig& config);

}  // namespace sotto
