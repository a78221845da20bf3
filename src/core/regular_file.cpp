#include "regular_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

std::string_view kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

}  // namespace

RegularFile::RegularFile(const std::filesystem::path& path) : path_(path) {
    // Non-blocking: a pipe that nobody writes to must not hang the job.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
        const int reason = errno;
        if (descriptor_ >= 0) ::close(descriptor_);
        throw DataError(
            fmt::format("{}: cannot be read ({})", path.string(), std::strerror(reason)));
    }
    if (!S_ISREG(status.st_mode)) {
        ::close(descriptor_);
        throw DataError(fmt::format(
            "{}: is {}, not a file; only files are read", path.string(), kind_of(status.st_mode)));
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
}

RegularFile::~RegularFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t RegularFile::read(char* target, std::size_t size) {
    std::size_t got = 0;
    while (got < size) {
        const ssize_t count = ::read(descriptor_, target + got, size - got);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0)
            throw DataError(
                fmt::format("{}: cannot be read ({})", path_.string(), std::strerror(errno)));
        if (count == 0) break;
        got += static_cast<std::size_t>(count);
    }
    return got;
}

int RegularFile::release() { return std::exchange(descriptor_, -1); }

}  // namespace sotto
