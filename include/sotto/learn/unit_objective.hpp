#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sotto/learn/dataset.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// Rows that belong together, one list a unit (a person): disjoint, none empty.
using Units = std::vector<std::vector<Eigen::Index>>;

/// The units of records that say who each is of (Dataset::writers), in the order of their first
/// records. @param rows of the data set, of which the units are made. Cost O(rows log rows).
/// @throws DataError where the data do not say it.
[[nodiscard]] Units units_of(const Dataset& data, std::span<const Eigen::Index> rows);

/// The same objective with units in the place of records: row k of a batch is unit k, whose
/// gradient is the mean of its records' gradients, clipped as one. So whatever one unit's records
/// are, and however many, they change a clipped sum by as much as one record does otherwise
/// (objective.hpp). Losses stay those of records. Cost of a clipped sum: O(d) a unit beside its
/// records' gradients.
/// @param units rows of the inner objective's shard.
[[nodiscard]] std::unique_ptr<Objective> make_unit_objective(std::unique_ptr<Objective> records,
                                                             Units units);

}  // namespace sotto
