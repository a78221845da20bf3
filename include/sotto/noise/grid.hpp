#pragma once

#include <span>

namespace sotto {

/// Rounds every value to the nearest multiple of `grid_step` (a power of two). Exact; values must
/// be below 2^51 grid steps, which the noise of a valid plan is (finest_grid_step).
void round_to_grid(std::span<double> values, double grid_step);
/// The same for values of every size, a little slower.
void round_message_to_grid(std::span<double> values, double grid_step);
/// Rounds every value toward zero to a multiple of `grid_step`: norms never grow.
void truncate_to_grid(std::span<double> values, double grid_step);

}  // namespace sotto
