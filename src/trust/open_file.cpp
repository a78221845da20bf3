#include "open_file.hpp"

#include <fmt/format.h>

#include <cstring>

namespace sotto {

ConfigError unwritable(const std::filesystem::path& path, int reason) {
    return ConfigError(
        fmt::format("{}: cannot be written ({})", path.string(), std::strerror(reason)));
}

}  // namespace sotto
