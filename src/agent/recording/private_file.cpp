#include "private_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void throw_unrecorded(const fs::path& path, int reason) {
    throw_write_failure(
        fmt::format("record-view: {} cannot be written ({})", path.string(), std::strerror(reason)),
        reason);
}

}  // namespace

fs::path private_folder(const fs::path& folder, int agent) {
    const fs::path own = folder / std::to_string(agent);
    std::error_code failure = make_private_folder(own);
    if (!failure) fs::permissions(own, fs::perms::owner_all, failure);
    if (failure) throw_unrecorded(own, failure.value());
    return own;
}

PrivateFile::PrivateFile(fs::path path) : path_(std::move(path)) {
    const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) throw_unrecorded(path_, errno);
    file_.reset(::fdopen(descriptor, "wb"));
}

void PrivateFile::append(const void* bytes, std::size_t size) {
    if (std::fwrite(bytes, 1, size, file_.get()) != size) throw_unrecorded(path_, errno);
}

void PrivateFile::flush() {
    if (std::fflush(file_.get()) != 0) throw_unrecorded(path_, errno);
}

void PrivateFile::close() {
    if (std::fclose(file_.release()) != 0) throw_unrecorded(path_, errno);
}

}  // namespace sotto
