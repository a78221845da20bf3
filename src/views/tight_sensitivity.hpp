#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "sotto/privacy/budget.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

/// gram_sensitivity with a known upper bound for every pattern.
[[nodiscard]] SquaredSensitivity bounded_gram_sensitivity(const Eigen::MatrixXd& gram,
                                                          std::span<const long> training_rounds,
                                                          const Participation& participation,
                                                          double tight_gap,
                                                          double known_upper);

/// Sensitivities of a Gram matrix: constant sign, sum of absolute values and the certified tight
/// one, each the largest over participation patterns. `trivial` is infinity.
/// @param training_rounds of every row, 0 or more (MessageProcess::training_rounds); empty: 0, 1,
/// 2, ...
/// @throws ConfigError for sizes that do not fit, DataError for values that are not finite.
[[nodiscard]] SquaredSensitivity gram_sensitivity(const Eigen::MatrixXd& gram,
                                                  const Participation& participation,
                                                  double tight_gap,
                                                  std::span<const long> training_rounds = {});

/// Signs s_t in {-1, 0, 1} with a large s^T Gram s: coordinate ascent from constant, alternating
/// and random signs, over the rounds of the worst participation pattern. A lower bound on the
/// maximum over signs; 0 in rounds without participation.
[[nodiscard]] Eigen::VectorXd worst_signs(const Eigen::MatrixXd& gram,
                                          const Participation& participation);

/// The rounds of every participation pattern: those with training rounds first, first + cycle, ...
[[nodiscard]] std::vector<std::vector<Eigen::Index>> participation_patterns(
    std::span<const long> training_rounds, const Participation& participation);

}  // namespace sotto
