#pragma once

// One format of data files; not installed.

#include <string>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Reads LIBSVM text ("label index:value ..."; indices from 1, ascending; plain or .gz; #
/// comments). Labels are those of the file: which classes they are is decided over all data of a
/// run (label_set.hpp). So is that indices count from 1: 0 is refused, since no file alone shows
/// that the others count from 0 too.
/// @param minimum_features columns at least (a test file may not reach the training file's last).
/// @throws DataError with file and line for: missing file, no records, a label or value that is not
///         a finite number, an index that is not a positive ascending integer, one beyond 2^20 and
///         16 for every value in the file (a model would take memory that the data do not), or
///         garbage.
[[nodiscard]] Dataset read_libsvm(const std::string& path, Eigen::Index minimum_features = 0);

}  // namespace sotto
