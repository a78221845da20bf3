#pragma once

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Largest standard deviation of one coordinate of fresh noise over all rows, the copies that
/// senders keep included; 0 without noise.
[[nodiscard]] double largest_deviation(const NoisePlan& plan);

/// The least step of the grid that all noise of a plan is rounded to: 2^finest_grid_log2 of
/// largest_deviation, so that noise 32 times as large has room for all its bits; 8 times as much
/// for Laplace noise, whose tail is longer.
[[nodiscard]] double finest_grid_step(const NoisePlan& plan);

}  // namespace sotto
