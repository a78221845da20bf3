#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sotto {

/// Lines of a text file, plain or gzip-compressed (recognised by content).
class LineReader {
  public:
    /// @throws DataError if the file is missing or unreadable (path and reason in the message).
    explicit LineReader(const std::string& path);
    ~LineReader();
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;

    /// The next line without its end, valid until the next call; false at the end of the file.
    /// Accepts LF and CRLF, lines of any length. @throws DataError on a damaged gzip stream.
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
