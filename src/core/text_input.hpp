#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.hpp"

namespace sotto {

/// Largest length of a line in bytes: a record of a few million numbers.
inline constexpr std::size_t longest_line_bytes = std::size_t{32} << 20;

/// The text without a leading UTF-8 byte order mark.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

/// Lines of a text file, plain or gzip-compressed (recognised by content). Memory is that of a
/// line.
class LineReader {
  public:
    /// @throws DataError with path and reason if the file is missing, unreadable or not a regular
    /// file.
    explicit LineReader(const std::string& path);
    ~LineReader();
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;

    /// The next line without its end, valid until the next call; false at the end of the file.
    /// Accepts LF and CRLF, and a leading UTF-8 byte order mark.
    /// @throws DataError as CompressedInput::read, and for a line above longest_line_bytes.
    bool next(std::string_view& line);
    /// 1 for the first line returned.
    [[nodiscard]] long long line_number() const { return line_number_; }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    struct Stream;
    std::string path_;
    std::unique_ptr<Stream> stream_;
    std::string line_;
    long long line_number_ = 0;
};

// Bytes of data files, plain or compressed.

/// The content read of a compressed file may be at most growth_from_bytes plus most_growth times
/// the compressed bytes read so far. Data files compress 3 to 30 times, a file made to fill memory
/// 1000 times.
inline constexpr std::uint64_t most_growth = 128;
inline constexpr std::uint64_t growth_from_bytes = std::uint64_t{64} << 20;

/// A regular file, plain or gzip-compressed (recognised by content), read from start to end.
class CompressedInput {
  public:
    /// @throws DataError with path and reason if it is missing, unreadable or not a regular file.
    explicit CompressedInput(std::string path);

    /// Reads up to `size` bytes of the content; none at its end.
    /// @param place of the reader, for messages about a damaged file: "line 7".
    /// @throws DataError for a damaged or truncated gzip stream, one followed by anything but zeros
    /// or another gzip stream, and for content above the limit of most_growth.
    [[nodiscard]] std::size_t read(char* target, std::size_t size, const std::string& place);

    /// Upper bound on the size of the content: the file's size, or what most_growth allows.
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
    std::size_t begin_ = 0, end_ = 0;        // the unread range of buffer_
    std::uint64_t taken_ = 0, content_ = 0;  // bytes consumed of the file, and bytes returned
    std::unique_ptr<Unpacking> unpacking_;   // of a compressed file
};

}  // namespace sotto
