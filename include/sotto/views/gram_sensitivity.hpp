#pragma once

#include <Eigen/Dense>
#include <span>

#include "sotto/privacy/budget.hpp"
#include "sotto/views/squared_sensitivity.hpp"

namespace sotto {

/// Sensitivities of a Gram matrix: constant sign, sum of absolute values and the certified tight
/// one, each the largest over participation patterns. `trivial` is infinity.
/// @param training_rounds of every row, 0 or more (MessageProcess::training_rounds); empty: 0, 1,
/// 2, ...  @throws ConfigError for sizes that do not fit, DataError for values that are not finite.
[[nodiscard]] SquaredSensitivity gram_sensitivity(const Eigen::MatrixXd& gram,
                                                  const Participation& participation,
                                                  double tight_gap,
                                                  std::span<const long> training_rounds = {});

}  // namespace sotto
