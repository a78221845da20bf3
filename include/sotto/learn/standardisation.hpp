#pragma once

#include <Eigen/Dense>
#include <span>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Mean and deviation of every feature and of the target.
struct Standardisation {
    Eigen::VectorXd feature_mean, feature_deviation;  ///< one per feature
    double target_mean = 0, target_deviation = 1;
};
/// Population moments over the given rows of dense real data; a deviation of 0 counts as 1, so that
/// a constant column becomes 0.
[[nodiscard]] Standardisation standardisation_of(const Dataset& data,
                                                 std::span<const Eigen::Index> rows);
/// Every feature, and the target where it is a value, becomes (x - mean) / deviation.
[[nodiscard]] Dataset standardised(Dataset data, const Standardisation& moments);

}  // namespace sotto
