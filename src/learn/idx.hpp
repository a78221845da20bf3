#pragma once

// One format of data files; not installed.

#include <string>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Reads grey images in IDX format (bytes, magic number 0x00000803) with the labels of the file
/// beside it, whose name has "labels-idx1" for "images-idx3" (0x00000801); plain or .gz each.
/// Features are bytes / 255, labels 0 to 255. Transient memory: none beside the bytes.
/// @throws DataError with file and byte for: another magic number, dimensions of zero, a file that
///         is shorter or longer than its header says, labels missing or of another number.
[[nodiscard]] Dataset read_idx(const std::string& path);

}  // namespace sotto
