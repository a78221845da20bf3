#include "gzip_buffer.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {
gzFile as_gzip(void* file) { return static_cast<gzFile>(file); }
}  // namespace

void GzipBuffer::Close::operator()(void* file) const { gzclose(as_gzip(file)); }

GzipBuffer::GzipBuffer(const std::string& path) : path_(path), buffer_(1 << 17) {
    std::error_code status;
    if (std::filesystem::is_directory(path, status))
        throw DataError(fmt::format("{}: is a directory, not a file", path));
    errno = 0;
    file_.reset(gzopen(path.c_str(), "rb"));
    if (file_ == nullptr)
        throw DataError(fmt::format(
            "{}: cannot be read ({})", path, errno != 0 ? std::strerror(errno) : "out of memory"));
    gzbuffer(as_gzip(file_.get()), 1 << 17);
}

GzipBuffer::int_type GzipBuffer::underflow() {
    taken_before_ = position();
    setg(nullptr, nullptr, nullptr);
    const int count =
        gzread(as_gzip(file_.get()), buffer_.data(), static_cast<unsigned>(buffer_.size()));
    int code = Z_OK;
    const char* reason = gzerror(as_gzip(file_.get()), &code);
    // A truncated gzip stream ends with Z_BUF_ERROR instead of an error from gzread.
    if (count < 0 || code == Z_BUF_ERROR)
        throw DataError(fmt::format(
            "{}: damaged or truncated after byte {} ({})", path_, taken_before_, reason));
    if (count == 0) return traits_type::eof();
    setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
    return traits_type::to_int_type(*gptr());
}

void GzipBuffer::read(void* target, std::size_t count, const char* what) {
    const auto got = sgetn(static_cast<char*>(target), static_cast<std::streamsize>(count));
    if (got != static_cast<std::streamsize>(count))
        throw DataError(fmt::format("{}: ends after byte {}, in its {}", path_, position(), what));
}

}  // namespace sotto
