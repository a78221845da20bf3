#include "compressed_input.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "regular_file.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {
gzFile as_gzip(void* file) { return static_cast<gzFile>(file); }
}  // namespace

void CompressedInput::Close::operator()(void* file) const { gzclose(as_gzip(file)); }

CompressedInput::CompressedInput(std::string path) : path_(std::move(path)) {
    RegularFile file(path_);
    file_bytes_ = file.size();
    file_.reset(gzdopen(file.release(), "rb"));
    if (file_ == nullptr) throw DataError(fmt::format("{}: cannot be read (out of memory)", path_));
    gzbuffer(as_gzip(file_.get()), 1 << 17);
    compressed_ = gzdirect(as_gzip(file_.get())) == 0;
}

std::size_t CompressedInput::read(char* target, std::size_t size, const std::string& place) {
    const gzFile file = as_gzip(file_.get());
    const int count = gzread(file, target, static_cast<unsigned>(size));
    int code = Z_OK;
    const char* reason = gzerror(file, &code);
    // A truncated gzip stream ends with Z_BUF_ERROR instead of an error from gzread.
    if (count < 0 || code == Z_BUF_ERROR)
        throw DataError(
            fmt::format("{}: damaged or truncated after {} ({})", path_, place, reason));
    content_bytes_ += static_cast<std::uint64_t>(count);
    const auto taken = static_cast<std::uint64_t>(gzoffset(file));
    if (compressed_ && content_bytes_ > growth_from_bytes + most_growth * taken)
        throw DataError(
            fmt::format("{}: the first {} bytes of the compressed file unpack to more than {}, {} "
                        "times as many; at most {} times and {} MiB are read (unpack it with "
                        "gunzip if that is what it should hold)",
                        path_,
                        taken,
                        content_bytes_,
                        content_bytes_ / std::max<std::uint64_t>(1, taken),
                        most_growth,
                        growth_from_bytes >> 20));
    return static_cast<std::size_t>(count);
}

std::uint64_t CompressedInput::most_bytes() const {
    return compressed_ ? growth_from_bytes + most_growth * file_bytes_ : file_bytes_;
}

}  // namespace sotto
