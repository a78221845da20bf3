#pragma once

// Bytes of data files, plain or compressed; not installed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "regular_file.hpp"

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
    /// @throws DataError for a damaged or truncated gzip stream, for one with anything but zeros
    /// behind its end, and for content that outgrows the file (most_growth).
    [[nodiscard]] std::size_t read(char* target, std::size_t size, const std::string& place);

    /// What the content can have at most: the file's bytes, or what its growth allows.
    [[nodiscard]] std::uint64_t most_bytes() const;

    ~CompressedInput();
    CompressedInput(const CompressedInput&) = delete;
    CompressedInput& operator=(const CompressedInput&) = delete;

  private:
    struct Unpacking;

    std::size_t read_plain(char* target, std::size_t size);
    std::size_t read_unpacked(char* target, std::size_t size, const std::string& place);
    bool fill();
    bool begin_next_member();

    std::string path_;
    RegularFile file_;
    std::vector<unsigned char> buffer_;      // bytes of the file
    std::size_t begin_ = 0, end_ = 0;        // of them, those that are not used yet
    std::uint64_t taken_ = 0, content_ = 0;  // bytes used of the file, and given
    std::unique_ptr<Unpacking> unpacking_;   // of a compressed file
};

}  // namespace sotto
