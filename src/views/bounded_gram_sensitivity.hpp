#pragma once

#include <Eigen/Dense>
#include <span>

#include "sotto/privacy/budget.hpp"
#include "sotto/views/squared_sensitivity.hpp"

namespace sotto {

/// As gram_sensitivity, with a bound on every pattern known beforehand.
[[nodiscard]] SquaredSensitivity bounded_gram_sensitivity(const Eigen::MatrixXd& gram,
                                                          std::span<const long> training_rounds,
                                                          const Participation& participation,
                                                          double tight_gap,
                                                          double known_upper);

}  // namespace sotto
