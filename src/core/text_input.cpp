#include "core/text_input.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

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

namespace {

constexpr std::size_t piece_bytes = 1 << 17;
constexpr std::size_t signature_bytes = 2;

bool is_gzip(const unsigned char* bytes, std::size_t size) {
    return size >= signature_bytes && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

}  // namespace

/// Position in a gzip file: inside one of its streams, or behind all.
struct CompressedInput::Unpacking {
    explicit Unpacking(const std::string& path) {
        constexpr int largest_window = 15, gzip_only = 16;
        if (::inflateInit2(&stream, largest_window + gzip_only) != Z_OK)
            throw DataError(fmt::format("{}: cannot be read (out of memory)", path));
    }
    ~Unpacking() { ::inflateEnd(&stream); }
    Unpacking(const Unpacking&) = delete;
    Unpacking& operator=(const Unpacking&) = delete;

    z_stream stream{};
    bool ended = false;
};

CompressedInput::CompressedInput(std::string path)
    : path_(std::move(path)), file_(path_), buffer_(piece_bytes) {
    (void)fill();
    if (is_gzip(buffer_.data(), end_)) unpacking_ = std::make_unique<Unpacking>(path_);
}

CompressedInput::~CompressedInput() = default;

/// Reads more bytes of the file behind the unread ones; false at its end.
bool CompressedInput::fill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const std::size_t count =
        file_.read(reinterpret_cast<char*>(buffer_.data()) + end_, buffer_.size() - end_);
    end_ += count;
    return count > 0;
}

std::size_t CompressedInput::read_plain(char* target, std::size_t size) {
    if (begin_ == end_ && !fill()) return 0;
    const std::size_t count = std::min(size, end_ - begin_);
    std::memcpy(target, buffer_.data() + begin_, count);
    begin_ += count;
    return count;
}

/// Starts the next of several concatenated gzip streams; skips zeros that pad a tape block.
/// @throws DataError for anything else behind a stream.
bool CompressedInput::begin_next_member() {
    if (end_ - begin_ < signature_bytes) (void)fill();
    if (is_gzip(buffer_.data() + begin_, end_ - begin_)) {
        ::inflateReset(&unpacking_->stream);
        return true;
    }
    do {
        const auto first = buffer_.begin() + static_cast<std::ptrdiff_t>(begin_);
        const auto last = buffer_.begin() + static_cast<std::ptrdiff_t>(end_);
        const auto other = std::find_if(first, last, [](unsigned char byte) { return byte != 0; });
        taken_ += static_cast<std::uint64_t>(other - first);
        if (other != last)
            throw DataError(
                fmt::format("{}, byte {}: the file goes on behind the end of its gzip stream with "
                            "bytes that are none (compress it again)",
                            path_,
                            taken_));
        begin_ = end_;
    } while (fill());
    return false;
}

std::size_t CompressedInput::read_unpacked(char* target,
                                           std::size_t size,
                                           const std::string& place) {
    z_stream& stream = unpacking_->stream;
    const auto fail = [&](const char* reason) {
        throw DataError(
            fmt::format("{}: damaged or truncated after {} ({})", path_, place, reason));
    };
    stream.next_out = reinterpret_cast<Bytef*>(target);
    stream.avail_out = static_cast<uInt>(std::min(size, std::size_t{1} << 30));
    const uInt wanted = stream.avail_out;
    while (stream.avail_out == wanted && !unpacking_->ended) {
        if (begin_ == end_ && !fill()) fail("unexpected end of file");
        stream.next_in = buffer_.data() + begin_;
        stream.avail_in = static_cast<uInt>(end_ - begin_);
        const int code = ::inflate(&stream, Z_NO_FLUSH);
        const std::size_t used = end_ - begin_ - stream.avail_in;
        begin_ += used;
        taken_ += used;
        if (code == Z_STREAM_END)
            unpacking_->ended = !begin_next_member();
        else if (code != Z_OK)
            fail(stream.msg != nullptr ? stream.msg : "no reason given");
    }
    return wanted - stream.avail_out;
}

std::size_t CompressedInput::read(char* target, std::size_t size, const std::string& place) {
    if (!unpacking_) return read_plain(target, size);
    const std::size_t count = read_unpacked(target, size, place);
    content_ += count;
    if (content_ > growth_from_bytes + most_growth * taken_)
        throw DataError(
            fmt::format("{}: the first {} bytes of the compressed file unpack to more than {}, {} "
                        "times as many; at most {} times and {} MiB are read (unpack it with "
                        "gunzip if that is what it should hold)",
                        path_,
                        taken_,
                        content_,
                        content_ / std::max<std::uint64_t>(1, taken_),
                        most_growth,
                        growth_from_bytes >> 20));
    return count;
}

std::uint64_t CompressedInput::most_bytes() const {
    return unpacking_ ? growth_from_bytes + most_growth * file_.size() : file_.size();
}

}  // namespace sotto
