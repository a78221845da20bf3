#pragma once

// One format of data files; not installed.

#include <string>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Reads a table of numbers, separated by commas, a record a line (plain or .gz). The last column
/// is the target value. A first line without any number is a header, whose names are those of the
/// columns (Dataset::columns); empty lines are skipped.
/// @throws DataError with file and line for: missing file, no records, fewer than two columns,
/// another number of columns than in the header or the first record, what is not a finite number;
/// and for what would be learnt from by mistake: a first line 0, 1, 2, ..., which may be numbers of
/// columns, a column without a name, and a first column that counts three records or more from 0.
[[nodiscard]] Dataset read_csv(const std::string& path);

}  // namespace sotto
