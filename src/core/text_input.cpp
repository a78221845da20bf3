#include "sotto/core/text_input.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sotto/core/error.hpp"

namespace sotto {

struct LineReader::Stream {
    gzFile file = nullptr;
    std::array<char, 1 << 16> buffer{};
    std::size_t begin = 0, end = 0;

    ~Stream() {
        if (file != nullptr) gzclose(file);
    }
};

LineReader::LineReader(const std::string& path) : path_(path), stream_(std::make_unique<Stream>()) {
    std::error_code status;
    if (std::filesystem::is_directory(path, status))
        throw DataError(fmt::format("{}: is a directory, not a file", path));
    errno = 0;
    stream_->file = gzopen(path.c_str(), "rb");
    if (stream_->file == nullptr)
        throw DataError(fmt::format(
            "{}: cannot be read ({})", path, errno != 0 ? std::strerror(errno) : "out of memory"));
    gzbuffer(stream_->file, 1 << 17);
}

LineReader::~LineReader() = default;

bool LineReader::next(std::string_view& line) {
    line_.clear();
    bool any = false;
    for (;;) {
        if (stream_->begin == stream_->end) {
            const int count = gzread(stream_->file,
                                     stream_->buffer.data(),
                                     static_cast<unsigned>(stream_->buffer.size()));
            int code = Z_OK;
            const char* reason = gzerror(stream_->file, &code);
            // A truncated gzip stream ends with Z_BUF_ERROR instead of an error from gzread.
            if (count < 0 || code == Z_BUF_ERROR)
                throw DataError(fmt::format(
                    "{}: damaged or truncated after line {} ({})", path_, line_number_, reason));
            if (count == 0) break;
            stream_->begin = 0;
            stream_->end = static_cast<std::size_t>(count);
        }
        any = true;
        const char* first = stream_->buffer.data() + stream_->begin;
        const std::size_t left = stream_->end - stream_->begin;
        const auto* newline = static_cast<const char*>(std::memchr(first, '\n', left));
        if (newline == nullptr) {
            line_.append(first, left);
            stream_->begin = stream_->end;
            continue;
        }
        line_.append(first, newline);
        stream_->begin += static_cast<std::size_t>(newline - first) + 1;
        break;
    }
    if (!any) return false;
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    ++line_number_;
    line = line_;
    return true;
}

}  // namespace sotto
