#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "views/target_grams.hpp"

namespace sotto {

/// Gram matrices where the noise of a round depends on many earlier rounds: all observations of the
/// run are whitened at once.
/// @param model of independent rounds.  @param inverse C_time^-1, rounds x rounds, a block a
/// stretch. Cost O(P^3 + P^2 sources rounds) for P observed values in the run.
/// @throws ConfigError for more than 12000 observed values.
[[nodiscard]] std::vector<TargetGram> dense_temporal_grams(const ObservationModel& model,
                                                           const Eigen::MatrixXd& inverse,
                                                           std::span<const int> targets);

}  // namespace sotto
