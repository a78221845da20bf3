#include "clipping.hpp"

#include <cmath>
#include <span>

#include "sotto/core/value_range.hpp"
#include "sotto/noise/grid.hpp"

namespace sotto {

bool clip_to_grid(Eigen::Ref<Eigen::VectorXd> gradient,
                  bool l1,
                  double clip_norm,
                  double grid_step) {
    const auto norm = ranged_norm(gradient, l1);
    if (!norm) {
        gradient.setZero();
        return false;
    }
    // Covers the rounding of the norm (at most one part in 2^53 a term of its sum, where small ones
    // are lost beside a large one) and of the product.
    const double margin = 1 - static_cast<double>(gradient.size() + 16) * 0x1p-53;
    if (norm->longer_than(clip_norm * margin))
        gradient *= clip_norm / norm->value * margin;
    else if (norm->exponent != 0)
        gradient *= std::ldexp(1.0, norm->exponent);
    truncate_to_grid({gradient.data(), static_cast<std::size_t>(gradient.size())}, grid_step);
    return true;
}

bool clip_coordinates_to_grid(Eigen::Ref<Eigen::VectorXd> gradient,
                              double clip_norm,
                              double grid_step) {
    const bool finite = gradient.allFinite();
    for (double& value : gradient) value = std::isfinite(value) ? value : 0;
    gradient = gradient.cwiseMin(clip_norm).cwiseMax(-clip_norm);
    truncate_to_grid({gradient.data(), static_cast<std::size_t>(gradient.size())}, grid_step);
    return finite;
}

}  // namespace sotto
