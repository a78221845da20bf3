#pragma once

#include <memory>

#include "sotto/learn/dataset.hpp"
#include "sotto/learn/layers/layer.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// A model of layers on one agent's records. Where the data have labels, the loss is the
/// cross-entropy -log(softmax(out)[class]) of the last layer's outputs, one a class; where they
/// have values to predict, (out - value)^2 of its only output.
///
/// Records are clipped by ghost norms: one forward and one backward pass give the norm of every
/// record's gradient, then the sum of the clipped gradients is one product a layer, with rows
/// scaled by the clip factors. So the sum itself is rounded toward zero to the grid
/// (objective.hpp), and records are clipped to C' a little below C:
///
///     C' = (C - grid_step sqrt(d)) / (1 + 2 n e),
///
/// for n records in the largest batch: the same whatever the batch. Rounding of the products of one
/// record and of their sums adds at most n e C' to the sum of n records, for any data: e = ((m t +
/// 16) a + n / m + 1) u, with m records summed together before such sums are (the widest of
/// place_independent_tiles, n where that is less), t terms a record and amplification a
/// (SumRounding), u = 2^-53. Rounding toward zero moves the difference of two sums by at most
/// grid_step sqrt(d). What is computed for a record has the same bits whatever other records are in
/// the batch, and wherever it stands (place_independent_tiles). So one record changes the result by
/// at most C' + 2 n e C' + grid_step sqrt(d) = C where it is zeroed or leaves the batch, and by
/// less than 2C where it is replaced. A record whose gradient is not finite, or whose square
/// overflows, adds zero.
/// @throws DataError if the shard is empty, feature counts differ, a feature is not finite, or a
/// label is no class; ConfigError if layers do not fit each other or the features.
[[nodiscard]] std::unique_ptr<Objective> make_layered_objective(
    Layers layers, Dataset shard, std::shared_ptr<const Dataset> test);

}  // namespace sotto
