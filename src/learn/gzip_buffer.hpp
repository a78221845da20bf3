#pragma once

#include <cstdint>
#include <streambuf>
#include <string>
#include <vector>

#include "core/compressed_input.hpp"

namespace sotto {

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

}  // namespace sotto
