#pragma once

// Gradients made short and put on the noise's grid; not installed.

#include <Eigen/Dense>

namespace sotto {

/// Scales to norm `clip_norm` (L1 or L2) where it is larger, then rounds toward zero to the grid,
/// which shortens it further: the result's norm is at most clip_norm, to the last bit, for any
/// gradient. One that is not finite becomes zero.
/// @return false if it was not finite.
[[nodiscard]] bool clip_to_grid(Eigen::Ref<Eigen::VectorXd> gradient,
                                bool l1,
                                double clip_norm,
                                double grid_step);

/// The same of every coordinate by itself, where each is a model of its own.
/// @return false if one was not finite.
[[nodiscard]] bool clip_coordinates_to_grid(Eigen::Ref<Eigen::VectorXd> gradient,
                                            double clip_norm,
                                            double grid_step);

}  // namespace sotto
