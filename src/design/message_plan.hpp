#pragma once

#include <string>

#include "sotto/design/design.hpp"

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

}  // namespace sotto
