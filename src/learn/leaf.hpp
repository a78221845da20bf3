#pragma once

// One format of data files; not installed.

#include <string>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Reads LEAF's JSON: {"users": [...], "num_samples": [...], "user_data": {user: {"x": [[...],
/// ...], "y": [...]}}}; other keys are skipped. Features are x, nested arrays one after the other;
/// labels y, whole numbers from 0; a record's writer is its user, numbered as in "users". Read as a
/// stream: memory is that of the records.
/// @throws DataError with file, and byte or user, for: what is no such JSON, a user without data or
///         named twice, numbers of x, y and num_samples that differ, records of different lengths.
[[nodiscard]] Dataset read_leaf(const std::string& path);

}  // namespace sotto
