#pragma once

#include <memory>
#include <streambuf>
#include <string>
#include <vector>

namespace sotto {

/// Bytes of a file, plain or gzip-compressed (recognised by content), as a stream buffer.
class GzipBuffer final : public std::streambuf {
  public:
    /// @throws DataError if the file is missing or unreadable (path and reason in the message).
    explicit GzipBuffer(const std::string& path);

    /// Reads `count` bytes. @throws DataError with file and byte if fewer are left.
    void read(void* target, std::size_t count, const char* what);
    /// Bytes that were taken.
    [[nodiscard]] long long position() const { return taken_before_ + (gptr() - eback()); }

  protected:
    /// @throws DataError on a damaged gzip stream.
    int_type underflow() override;

  private:
    struct Close {
        void operator()(void* file) const;
    };
    std::string path_;
    std::unique_ptr<void, Close> file_;
    std::vector<char> buffer_;
    long long taken_before_ = 0;  // bytes of earlier buffers
};

}  // namespace sotto
