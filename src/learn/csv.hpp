#pragma once

// One format of data files; not installed.

#include <string>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Reads a table of numbers, separated by commas, a record a line (plain or .gz). The last column
/// is the target value. A first line without any number is a header and is skipped; so are empty
/// lines. @throws DataError with file and line for: missing file, no records, fewer than two
/// columns, another number of columns than in the first record, or what is not a finite number.
[[nodiscard]] Dataset read_csv(const std::string& path);

}  // namespace sotto
