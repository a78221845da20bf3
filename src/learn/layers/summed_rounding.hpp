#pragma once

#include <cmath>

#include "sotto/learn/layers/layer.hpp"

namespace sotto {

/// For layers whose gradient is a sum over positions, in which large terms may cancel: the norm
/// counts a small part of the terms' own size, so that rounding of the terms is small beside it for
/// any data. The part is also far above the rounding of the norm itself.
constexpr double counted_part = 0x1p-16;

/// (|g| + counted_part |terms|)^2. @param terms_squared at least the squared norm (over parameters)
/// of the sums of the absolute values of the terms.
inline double summed_norm_squared(double gradient_squared, double terms_squared) {
    const double norm = std::sqrt(gradient_squared) + counted_part * std::sqrt(terms_squared);
    return norm * norm;
}
inline SumRounding summed_rounding(Eigen::Index positions) {
    return {static_cast<double>(positions), 1 / counted_part};
}

}  // namespace sotto
