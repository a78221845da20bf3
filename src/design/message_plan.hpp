#pragma once

#include <Eigen/Dense>
#include <string>

#include "sotto/design/design.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// A plan of noise on messages without streams: group u is agent u alone.
[[nodiscard]] NoisePlan start_message_plan(std::string mechanism, const DesignInput& input);

/// The same with one stream of Laplace noise an agent: stream u is agent u's.
[[nodiscard]] NoisePlan start_laplace_plan(std::string mechanism, const DesignInput& input);

/// @throws ConfigError naming the entry if a weight is negative: noise of a message that is meant
/// to cancel in the mean over agents would count twice where agents weigh it with opposite signs.
void require_weights_of_one_sign(const std::string& mechanism, const MixingMatrix& mixing);

/// Raises every agent's coefficients so that the budget covers run_sensitivity_squared instead of
/// the number of participations that kappa counts, and chooses a grid of 2^-40 of the smallest
/// standard deviation, so that rounding messages to it before the noise is added changes nothing
/// that counts; a coarser one, up to 2^-20, where the loudest noise needs it (finest_grid_step).
/// The clip leaves room for that rounding, whatever the grid (Trainer).
/// @param plan with noise that meets kappa in one round.
/// @throws ConfigError if a kappa is not finite and positive, PrivacyError if an agent is not
/// hidden, or the noise is too uneven for any grid.
[[nodiscard]] Design finish_message_plan(NoisePlan plan, const DesignInput& input);

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
