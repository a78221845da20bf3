#pragma once

#include <Eigen/Dense>

#include "sotto/design/design.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// kappa in units of its smallest value, and that value.
struct RelativeLimits {
    Eigen::VectorXd kappa;  ///< smallest entry 1
    double unit = 1;        ///< the smallest kappa; plans are scaled by 1/sqrt(unit)
};
/// @throws ConfigError if a kappa is not finite and positive.
[[nodiscard]] RelativeLimits relative_limits(const Eigen::VectorXd& kappa);

/// The plan with its `scale` raised by the rounding error of the factorisation, if any, so that its
/// own coefficients meet kappa against every coalition of plan.coalition_size, and with the grid
/// chosen: 2^-20 of the smallest conditional standard deviation, rounded down to a power of two.
/// @throws PrivacyError if its noise does not cover every agent.
[[nodiscard]] NoisePlan finish_plan(NoisePlan plan, const Eigen::VectorXd& kappa);

/// A finished plan with a temporal factor. Its scale is raised so that the budget covers the
/// factor's squared sensitivity instead of the number of participations that kappa counts, and the
/// grid becomes finer where rounds are conditionally quieter.
/// @param factor C_time of input.rounds rounds.
[[nodiscard]] NoisePlan correlate_over_rounds(NoisePlan plan,
                                              const DesignInput& input,
                                              TemporalFactor factor);

}  // namespace sotto
