#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <streambuf>
#include <string>
#include <vector>

#include "core/text_input.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Reads grey images in IDX format (bytes, magic number 0x00000803) with the labels of the file
/// beside it, whose name has "labels-idx1" for "images-idx3" (0x00000801); plain or .gz each.
/// Features are bytes / 255, labels 0 to 255. Transient memory: none beside the bytes.
/// @throws DataError with file and byte for: another magic number, dimensions of zero, a file that
///         is shorter or longer than its header says, labels missing or of another number.
[[nodiscard]] Dataset read_idx(const std::string& path);

/// Reads LEAF's JSON: {"users": [...], "num_samples": [...], "user_data": {user: {"x": [[...],
/// ...], "y": [...]}}}; other keys are skipped. Features are x, nested arrays one after the other;
/// labels y, whole numbers from 0; a record's writer is its user, numbered as in "users". Read as a
/// stream: memory is that of the records.
/// @throws DataError with file, and byte or user, for: what is no such JSON, a user without data or
///         named twice, numbers of x, y and num_samples that differ, records of different lengths.
[[nodiscard]] Dataset read_leaf(const std::string& path);

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

/// Bytes of a file, plain or gzip-compressed (recognised by content), as a stream buffer.
class GzipBuffer final : public std::streambuf {
  public:
    /// @throws DataError if the file is missing, unreadable or no regular file.
    explicit GzipBuffer(const std::string& path);

    /// Reads `count` bytes. @throws DataError with file and byte if fewer are left.
    void read(void* target, std::size_t count, const char* what);
    /// Bytes that were taken.
    [[nodiscard]] long long position() const { return taken_before_ + (gptr() - eback()); }
    /// What the file can hold at most: before memory is taken for what it announces.
    [[nodiscard]] std::uint64_t most_bytes() const { return input_.most_bytes(); }

  protected:
    /// @throws DataError on a damaged gzip stream, or one that unpacks to far more than data do.
    int_type underflow() override;

  private:
    std::string path_;
    CompressedInput input_;
    std::vector<char> buffer_;
    long long taken_before_ = 0;  // bytes of earlier buffers
};

/// Binary data of a9a's shape, for use without any file: 14 one-hot groups over 123 binary features
/// with skewed category frequencies, label from a fixed sparse linear rule plus noise, about 24%
/// positive. Deterministic in (records, seed).
[[nodiscard]] Dataset synthetic_binary(Eigen::Index records, std::uint64_t seed);

/// Points to average, for use without any file: 8 numbers each, independent and uniform from 0 to
/// 1/sqrt(8), so that no point is longer than 1. Labels are 1. Deterministic in (records, seed).
[[nodiscard]] Dataset synthetic_values(Eigen::Index records, std::uint64_t seed);

}  // namespace sotto
