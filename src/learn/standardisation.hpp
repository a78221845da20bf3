#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "core/numbers.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Scaling of one column: x becomes (min(max(x, low), high) - mean) / deviation, all in the data's
/// units. The default changes nothing.
struct ColumnScaling {
    double mean = 0, deviation = 1;           ///< finite; deviation > 0
    double low = -infinity, high = infinity;  ///< low < high
    /// NaN for NaN.
    [[nodiscard]] double scaled(double value) const;
    bool operator==(const ColumnScaling&) const = default;
};
/// Scaling of all features, and of the target if it is a value.
struct Standardisation {
    std::vector<ColumnScaling> features;  ///< in the order of the model
    ColumnScaling target{};
    bool operator==(const Standardisation&) const = default;
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
