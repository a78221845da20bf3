#pragma once

// From tables to records as models have them; not installed.

#include <string>
#include <vector>

#include "learn/table_shape.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/learn/standardisation.hpp"

namespace sotto {

/// Names of a model's features: of columns of numbers, of categories ("sex = male"), and of
/// indicators ("age is missing").
struct FeatureNames {
    std::vector<std::string> names;
    std::vector<bool> numbers;  ///< are to be scaled
};
[[nodiscard]] FeatureNames feature_names(const TableShape& shape, const MissingPolicy& missing);

/// Records as models have them: numbers not yet scaled, NaN where they are missing; labels as the
/// file has them, or places in label_names.
/// Where there is a column of units, equal cells of it are equal Dataset::writers.
/// @param with_label false: labels are 0, and the table need not have them, nor units.
/// @throws DataError naming column and record for a missing cell that is refused, or a category
/// that is not in the shape.
[[nodiscard]] Dataset encoded(const Table& table,
                              const TableShape& shape,
                              const MissingPolicy& missing,
                              bool with_label = true);

/// All columns as features, and the last as the value, too: points. @throws DataError naming column
/// and record of a cell that is no number.
[[nodiscard]] Dataset all_columns(const Table& table);

/// Scaling by known limits. @throws ConfigError naming a column of numbers that has none, or limits
/// of no column of numbers.
[[nodiscard]] Standardisation scaling_by_bounds(const TableShape& shape,
                                                const TableOptions& options);

}  // namespace sotto
