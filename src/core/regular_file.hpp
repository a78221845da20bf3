#pragma once

// Files that are read, by their descriptors; not installed.

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace sotto {

/// A regular file, open for reading. Pipes, devices and folders are refused at once: opening a pipe
/// would wait for whoever writes to it, and a device need not end.
class RegularFile {
  public:
    /// @throws DataError with path and reason.
    explicit RegularFile(const std::filesystem::path& path);
    ~RegularFile();
    RegularFile(const RegularFile&) = delete;
    RegularFile& operator=(const RegularFile&) = delete;

    /// Bytes, as the file system says: 0 for files that the kernel makes up.
    [[nodiscard]] std::uint64_t size() const { return size_; }
    /// Up to `size` bytes; fewer, and at last none, at its end. @throws DataError.
    [[nodiscard]] std::size_t read(char* target, std::size_t size);
    /// Who takes the descriptor closes it.
    [[nodiscard]] int release();

  private:
    std::filesystem::path path_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

}  // namespace sotto
