#include "clipping.hpp"

#include <cmath>
#include <span>

#include "sotto/agent/grid.hpp"

namespace sotto {

bool clip_to_grid(Eigen::Ref<Eigen::VectorXd> gradient,
                  bool l1,
                  double clip_norm,
                  double grid_step) {
    const double norm = l1 ? gradient.lpNorm<1>() : gradient.norm();
    if (!std::isfinite(norm)) return false;
    // Covers the rounding of the norm (at most one part in 2^53 a term of its sum, where small ones
    // are lost beside a large one) and of the product.
    const double margin = 1 - static_cast<double>(gradient.size() + 16) * 0x1p-53;
    if (norm > clip_norm * margin) gradient *= clip_norm / norm * margin;
    truncate_to_grid({gradient.data(), static_cast<std::size_t>(gradient.size())}, grid_step);
    return true;
}

bool clip_coordinates_to_grid(Eigen::Ref<Eigen::VectorXd> gradient,
                              double clip_norm,
                              double grid_step) {
    if (!gradient.allFinite()) return false;
    gradient = gradient.cwiseMin(clip_norm).cwiseMax(-clip_norm);
    truncate_to_grid({gradient.data(), static_cast<std::size_t>(gradient.size())}, grid_step);
    return true;
}

}  // namespace sotto
