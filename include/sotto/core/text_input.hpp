#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace sotto {

/// Bytes a line may have: a record of a few million numbers.
inline constexpr std::size_t longest_line_bytes = std::size_t{32} << 20;

/// The text without the byte order mark of UTF-8 that some editors and spreadsheets put in front of
/// it.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

/// Lines of a text file, plain or gzip-compressed (recognised by content). Memory is that of a
/// line; a compressed file that unpacks to far more than data do is refused while it is read.
class LineReader {
  public:
    /// @throws DataError if the file is missing, unreadable or no regular file (path and reason in
    /// the message): a pipe without a writer would be waited for.
    explicit LineReader(const std::string& path);
    ~LineReader();
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;

    /// The next line without its end, valid until the next call; false at the end of the file.
    /// Accepts LF and CRLF, and a byte order mark of UTF-8 in front of the first. @throws DataError
    /// on a damaged gzip stream, on one with anything behind its end, on one that unpacks to more
    /// than 128 times its size and 64 MiB, and on a line of more than longest_line_bytes.
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

}  // namespace sotto
