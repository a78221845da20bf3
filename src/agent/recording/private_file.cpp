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

ConfigError unwritable(const fs::path& path, int reason) {
    return ConfigError(fmt::format(
        "record-view: {} cannot be written ({})", path.string(), std::strerror(reason)));
}

}  // namespace

fs::path private_folder(const fs::path& folder, int agent) {
    const fs::path own = folder / std::to_string(agent);
    std::error_code failure = make_private_folder(own);
    if (!failure) fs::permissions(own, fs::perms::owner_all, failure);
    if (failure) throw unwritable(own, failure.value());
    return own;
}

PrivateFile::PrivateFile(fs::path path) : path_(std::move(path)) {
    const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) throw unwritable(path_, errno);
    file_.reset(::fdopen(descriptor, "wb"));
}

void PrivateFile::append(const void* bytes, std::size_t size) {
    if (std::fwrite(bytes, 1, size, file_.get()) != size) throw unwritable(path_, errno);
}

void PrivateFile::flush() {
    if (std::fflush(file_.get()) != 0) throw unwritable(path_, errno);
}

void PrivateFile::close() {
    if (std::fclose(file_.release()) != 0) throw unwritable(path_, errno);
}

}  // namespace sotto
