#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <streambuf>
#include <string>
#include <vector>

#include "core/text_input.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Reads grey images in IDX format (magic number 0x00000803) with the labels beside them
/// (0x00000801), in the file named "labels-idx1" for "images-idx3"; each plain or .gz. Features are
/// bytes / 255, labels 0 to 255. Memory: only that of the records.
/// @throws DataError with file and byte for another magic number, dimensions of zero, a file
/// shorter or longer than its header says, labels missing or of another number.
[[nodiscard]] Dataset read_idx(const std::string& path);

/// Where read_idx looks for labels, in this order, since one file may be compressed and the other
/// not; none if the images' name implies none.
[[nodiscard]] std::vector<std::string> names_of_labels(const std::string& images);

/// Reads LEAF's JSON: {"users": [...], "num_samples": [...], "user_data": {user: {"x": [[...],
/// ...], "y": [...]}}}; other keys are skipped. Features are x, nested arrays flattened; labels are
/// y, whole numbers from 0; a record's writer is its user, numbered as in "users". Reads a stream:
/// memory is that of the records.
/// @throws DataError with file, and byte or user, for other JSON, a user without data or named
/// twice, numbers of x, y and num_samples that differ, records of different lengths.
[[nodiscard]] Dataset read_leaf(const std::string& path);

/// Reads LIBSVM text ("label index:value ..."; indices from 1, ascending; plain or .gz; #
/// comments). Labels stay as in the file (label_set.hpp gives them classes). Index 0 is refused: it
/// would mean that indices count from 0, which other files may not show.
/// @param minimum_features columns at least (a test file may lack the last ones).
/// @throws DataError with file and line for: missing file, no records, a label or value that is not
/// a finite number, an index that is not a positive ascending integer or exceeds 2^20 plus 16 per
/// value in the file (which would need far more memory than the data), or garbage.
[[nodiscard]] Dataset read_libsvm(const std::string& path, Eigen::Index minimum_features = 0);

/// Bytes of a file, plain or gzip-compressed (recognised by content), as a stream buffer.
class GzipBuffer final : public std::streambuf {
  public:
    /// @throws DataError unless it is a readable regular file.
    explicit GzipBuffer(const std::string& path);

    /// @throws DataError with file and byte if fewer than `count` bytes are left.
    void read(void* target, std::size_t count, const char* what);
    /// Bytes read so far.
    [[nodiscard]] long long position() const { return taken_before_ + (gptr() - eback()); }
    /// Upper bound of the file's content: check it before allocating what a header announces.
    [[nodiscard]] std::uint64_t most_bytes() const { return input_.most_bytes(); }

  protected:
    /// @throws DataError on a damaged gzip stream, or one that unpacks to implausibly much.
    int_type underflow() override;

  private:
    std::string path_;
    CompressedInput input_;
    std::vector<char> buffer_;
    long long taken_before_ = 0;  // bytes of earlier buffers
};

/// Generated binary data of a9a's shape: 14 one-hot groups over 123 binary features with skewed
/// category frequencies, label from a fixed sparse linear rule plus noise, about 24% positive.
/// Deterministic in (records, seed).
[[nodiscard]] Dataset synthetic_binary(Eigen::Index records, std::uint64_t seed);

/// Generated points to average: 8 numbers, independent and uniform from 0 to 1/sqrt(8), so norms
/// are at most 1. Labels are 1. Deterministic in (records, seed).
[[nodiscard]] Dataset synthetic_values(Eigen::Index records, std::uint64_t seed);

}  // namespace sotto
