#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "core/numbers.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Scaling of features, and of a target that is a value: x becomes (x - mean) / deviation, cut to
/// [-limit, limit].
struct Standardisation {
    Eigen::VectorXd feature_mean, feature_deviation;  ///< one per feature
    double target_mean = 0, target_deviation = 1;
    double limit = infinity;
};
/// Population moments over the given rows of dense real data, without missing cells (NaN); a
/// deviation of 0, or of no cells, counts as 1.
/// @param numbers features to scale; others have mean 0 and deviation 1.
[[nodiscard]] Standardisation standardisation_of(const Dataset& data,
                                                 std::span<const Eigen::Index> rows,
                                                 const std::vector<bool>& numbers);
/// Changes nothing.
[[nodiscard]] Standardisation no_standardisation(Eigen::Index features);
/// Every feature scaled, and the target if it is a value; missing cells become 0.
[[nodiscard]] Dataset standardised(Dataset data, const Standardisation& scaling);

}  // namespace sotto
