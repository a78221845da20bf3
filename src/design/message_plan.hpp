#pragma once

#include <Eigen/Dense>
#include <string>

#include "sotto/design/design.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// A plan of noise on messages without streams: group u is agent u alone.
[[nodiscard]] NoisePlan start_message_plan(std::string mechanism, const DesignInput& input);

/// The same with one stream of Laplace noise per agent: stream u is agent u's.
[[nodiscard]] NoisePlan start_laplace_plan(std::string mechanism, const DesignInput& input);

/// @throws ConfigError naming the entry if a weight is negative: noise that should cancel in the
/// mean over agents would count twice where agents weigh it with opposite signs.
void require_weights_of_one_sign(const std::string& mechanism, const MixingMatrix& mixing);

/// Scales every agent's coefficients so that the budget covers run_sensitivity_squared instead of
/// the number of participations in kappa. Chooses a grid of 2^-40 of the smallest standard
/// deviation, so that rounding to it is negligible; up to 2^-20 if the loudest noise needs
/// it (finest_grid_step). The clip leaves room for that rounding (Trainer).
/// @param plan with noise that meets kappa in one round.
/// @throws ConfigError if a kappa is not finite and positive, PrivacyError if an agent is not
/// protected, or the noise is too uneven for any grid.
[[nodiscard]] Design finish_message_plan(NoisePlan plan, const DesignInput& input);

/// kappa in units of its smallest value, and that value.
struct RelativeLimits {
    Eigen::VectorXd kappa;  ///< smallest entry 1
    double unit = 1;        ///< the smallest kappa; plans are scaled by 1/sqrt(unit)
};
/// @throws ConfigError if a kappa is not finite and positive.
[[nodiscard]] RelativeLimits relative_limits(const Eigen::VectorXd& kappa);

/// Finishes a plan: raises `scale` by the rounding error of the factorisation, if any, so that its
/// own coefficients meet kappa against every coalition of plan.coalition_size, and sets the grid to
/// 2^-20 of the smallest conditional standard deviation, rounded down to a power of two.
/// @throws PrivacyError if its noise does not cover every agent.
[[nodiscard]] NoisePlan finish_plan(NoisePlan plan, const Eigen::VectorXd& kappa);

/// A finished plan with a temporal factor: its scale covers the factor's squared sensitivity
/// instead of the number of participations in kappa, and the grid is finer if rounds are
/// conditionally quieter.
/// @param factor C_time of input.rounds rounds.
[[nodiscard]] NoisePlan correlate_over_rounds(NoisePlan plan,
                                              const DesignInput& input,
                                              TemporalFactor factor);

}  // namespace sotto
