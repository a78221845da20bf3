#pragma once

#include <optional>
#include <span>
#include <vector>

#include "views/target_grams.hpp"

namespace sotto {

/// Independent rounds of one and the same step: the covariance of all P observed values of the run
/// is a running sum along its block diagonals, and its Cholesky factor whitens them. Nothing where
/// that does not apply (several gossip steps, changing steps or scales, singular covariance).
/// Better than the filter where few values are observed of a large network.
/// Cost P^2 sources + P^3 / 3 + P^2 rounds for every target whose input reaches the state.
[[nodiscard]] std::optional<std::vector<TargetGram>> whole_run_grams(const ObservationModel& model,
                                                                     std::span<const int> targets);

}  // namespace sotto
