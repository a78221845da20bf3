#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <vector>

#include "views/view_filter.hpp"

namespace sotto {

/// Gram matrices where the noise of a round depends on many earlier rounds: all observations of the
/// run are whitened at once.
/// @param model of independent rounds.  @param inverse C_time^-1, rounds x rounds, a block a
/// stretch. Cost O(P^3 + P^2 sources rounds) for P observed values in the run.
/// @throws ConfigError for more than 12000 observed values.
[[nodiscard]] std::vector<TargetGram> dense_temporal_grams(const ObservationModel& model,
                                                           const Eigen::MatrixXd& inverse,
                                                           std::span<const int> targets);

/// Independent rounds of one and the same step: the covariance of all P observed values of the run
/// is a running sum along its block diagonals, and its Cholesky factor whitens them. Nothing where
/// that does not apply (several gossip steps, changing steps or scales, singular covariance).
/// Better than the filter where few values are observed of a large network.
/// Cost P^2 sources + P^3 / 3 + P^2 rounds for every target whose input reaches the state.
[[nodiscard]] std::optional<std::vector<TargetGram>> whole_run_grams(const ObservationModel& model,
                                                                     std::span<const int> targets);

/// P above.
[[nodiscard]] long observed_values(const ObservationModel& model);

}  // namespace sotto
