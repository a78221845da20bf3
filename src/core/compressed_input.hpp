#pragma once

// Bytes of data files, plain or compressed; not installed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace sotto {

/// How far the content of a compressed file may outgrow it: 128 times what was read of the file so
/// far, and 64 MiB. Data files compress 3 to 30 times, a file made to fill memory 1000 times.
inline constexpr std::uint64_t most_growth = 128;
inline constexpr std::uint64_t growth_from_bytes = std::uint64_t{64} << 20;

/// A regular file, plain or gzip-compressed (recognised by content), read from its begin to its
/// end.
class CompressedInput {
  public:
    /// @throws DataError if it is missing, unreadable or no regular file (path and reason).
    explicit CompressedInput(std::string path);

    /// Up to `size` bytes of the content; none at its end.
    /// @param place what was read before, for the message of a damaged file: "line 7".
    /// @throws DataError for a damaged or truncated gzip stream, and for content that outgrows the
    /// file (most_growth).
    [[nodiscard]] std::size_t read(char* target, std::size_t size, const std::string& place);

    /// What the content can have at most: the file's bytes, or what its growth allows.
    [[nodiscard]] std::uint64_t most_bytes() const;

  private:
    struct Close {
        void operator()(void* file) const;
    };
    std::string path_;
    std::uint64_t file_bytes_ = 0, content_bytes_ = 0;
    bool compressed_ = false;
    std::unique_ptr<void, Close> file_;
};

}  // namespace sotto
