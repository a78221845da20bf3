#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "core/numbers.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

/// How features, and a target that is a value, are scaled: x becomes (x - mean) / deviation, cut to
/// [-limit, limit].
struct Standardisation {
    Eigen::VectorXd feature_mean, feature_deviation;  ///< one per feature
    double target_mean = 0, target_deviation = 1;
    double limit = infinity;
};
/// Population moments over the given rows of dense real data, without cells that are missing (NaN);
/// a deviation of 0, or without any cell, counts as 1, so that a constant column becomes 0.
/// @param numbers features to scale; others have mean 0 and deviation 1.
[[nodiscard]] Standardisation standardisation_of(const Dataset& data,
                                                 std::span<const Eigen::Index> rows,
                                                 const std::vector<bool>& numbers);
/// That changes nothing.
[[nodiscard]] Standardisation no_standardisation(Eigen::Index features);
/// Every feature, and the target where it is a value, scaled; what is missing becomes 0.
[[nodiscard]] Dataset standardised(Dataset data, const Standardisation& scaling);

}  // namespace sotto
