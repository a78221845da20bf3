#include "gzip_buffer.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

GzipBuffer::GzipBuffer(const std::string& path) : path_(path), input_(path), buffer_(1 << 17) {}

GzipBuffer::int_type GzipBuffer::underflow() {
    taken_before_ = position();
    setg(nullptr, nullptr, nullptr);
    const std::size_t count =
        input_.read(buffer_.data(), buffer_.size(), fmt::format("byte {}", taken_before_));
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
