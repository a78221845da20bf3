#include "sotto/core/text_input.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "compressed_input.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

struct LineReader::Stream {
    explicit Stream(const std::string& path) : input(path) {}
    CompressedInput input;
    std::array<char, 1 << 16> buffer{};
    std::size_t begin = 0, end = 0;
};

LineReader::LineReader(const std::string& path)
    : path_(path), stream_(std::make_unique<Stream>(path)) {}

LineReader::~LineReader() = default;

bool LineReader::next(std::string_view& line) {
    line_.clear();
    bool any = false;
    for (;;) {
        if (stream_->begin == stream_->end) {
            const std::size_t count = stream_->input.read(stream_->buffer.data(),
                                                          stream_->buffer.size(),
                                                          fmt::format("line {}", line_number_));
            if (count == 0) break;
            stream_->begin = 0;
            stream_->end = count;
        }
        any = true;
        const char* first = stream_->buffer.data() + stream_->begin;
        const std::size_t left = stream_->end - stream_->begin;
        const auto* newline = static_cast<const char*>(std::memchr(first, '\n', left));
        if (newline == nullptr) {
            if (line_.size() > longest_line_bytes)
                throw DataError(fmt::format("{}, line {}: it is longer than {} bytes",
                                            path_,
                                            line_number_ + 1,
                                            longest_line_bytes));
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
    line = line_number_ == 1 ? without_byte_order_mark(line_) : std::string_view(line_);
    return true;
}

std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace sotto
