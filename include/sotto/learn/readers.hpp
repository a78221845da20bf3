#pragma once

#include <string>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Reads a file of any of the formats below, plain or .gz, by its content: IDX starts with two zero
/// bytes, LEAF with a brace; of the others, CSV has a comma in its first line of data.
/// @throws DataError with file, line or byte, and what is wrong; also for a format that none is.
[[nodiscard]] Dataset read_records(const std::string& path);

/// Reads LIBSVM text ("label index:value ..."; indices from 1, ascending; plain or .gz; #
/// comments). Two distinct labels are mapped to -1 (the smaller) and +1; with any other number of
/// distinct labels they are kept as they are.
/// @param minimum_features columns at least (a test file may not reach the training file's last).
/// @throws DataError with file and line for: missing file, no records, a label or value that is not
///         a finite number, an index that is not a positive ascending integer, or garbage.
[[nodiscard]] Dataset read_libsvm(const std::string& path, Eigen::Index minimum_features = 0);

/// Reads grey images in IDX format (bytes, magic number 0x00000803) with the labels of the file
/// beside it, whose name has "labels-idx1" for "images-idx3" (0x00000801); plain or .gz each.
/// Features are bytes / 255, labels 0 to 255. Transient memory: none beside the bytes.
/// @throws DataError with file and byte for: another magic number, dimensions of zero, a file that
///         is shorter or longer than its header says, labels missing or of another number.
[[nodiscard]] Dataset read_idx(const std::string& path);

/// Reads a table of numbers, separated by commas, a record a line (plain or .gz). The last column
/// is the target value. A first line without any number is a header and is skipped; so are empty
/// lines. @throws DataError with file and line for: missing file, no records, fewer than two
/// columns, another number of columns than in the first record, or what is not a finite number.
[[nodiscard]] Dataset read_csv(const std::string& path);

/// Reads LEAF's JSON: {"users": [...], "num_samples": [...], "user_data": {user: {"x": [[...],
/// ...], "y": [...]}}}; other keys are skipped. Features are x, nested arrays one after the other;
/// labels y, whole numbers from 0; a record's writer is its user, numbered as in "users". Read as a
/// stream: memory is that of the records.
/// @throws DataError with file, and byte or user, for: what is no such JSON, a user without data or
///         named twice, numbers of x, y and num_samples that differ, records of different lengths.
[[nodiscard]] Dataset read_leaf(const std::string& path);

}  // namespace sotto
