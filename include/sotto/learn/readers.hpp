#pragma once

#include <string>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Reads a file of any of four formats, LIBSVM, IDX, CSV and LEAF JSON, plain or .gz, by its
/// content: IDX starts with two zero bytes, LEAF with a brace; of the others, CSV has a comma, a
/// semicolon or a tab in its first line of data. Text may begin with a byte order mark of UTF-8. Of
/// CSV the last column is a value to predict; the others are features: numbers, and one for each
/// text of a column of texts.
/// @throws DataError with file, line or byte, and what is wrong; also for a format that none is.
[[nodiscard]] Dataset read_records(const std::string& path);

}  // namespace sotto
