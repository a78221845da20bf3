#include "open_file.hpp"

#include <fmt/format.h>

#include <cstring>

#include "sotto/core/files.hpp"

namespace sotto {

void throw_unwritable(const std::filesystem::path& path, int reason) {
    throw_write_failure(
        fmt::format("{}: cannot be written ({})", path.string(), std::strerror(reason)), reason);
}

}  // namespace sotto
