#pragma once

#include <memory>
#include <vector>

#include "sotto/learn/dataset.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// For learning means and deviations of columns in one round of training: the "gradient" of a
/// record, at any model, is (z_1, ..., z_k, z_1^2, ..., z_k^2), where z are its scaled columns: the
/// given features, and then the target if it is a value (scaled_columns). Where columns are scaled
/// by bounds to -1 to 1, its L2 norm is at most sqrt(2k). All losses are 0. Memory: k numbers a
/// record.
/// @param shard dense real data, scaled; missing cells are 0.
/// @param numbers features to take.
/// @throws DataError if the shard is empty.
[[nodiscard]] std::unique_ptr<Objective> make_column_moments(const Dataset& shard,
                                                             const std::vector<bool>& numbers);

}  // namespace sotto
