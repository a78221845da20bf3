#pragma once

#include <span>

namespace sotto {

/// Rounds every value to the nearest multiple of `grid_step` (a power of two). Exact; values must
/// be below 2^50 grid steps.
void round_to_grid(std::span<double> values, double grid_step);
/// Rounds every value toward zero to a multiple of `grid_step`: norms never grow.
void truncate_to_grid(std::span<double> values, double grid_step);

}  // namespace sotto
