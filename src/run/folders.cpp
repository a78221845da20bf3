#include "run/folders.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

void create_folder(const std::filesystem::path& folder) {
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure)
        throw ConfigError(
            fmt::format("{}: cannot be created ({})", folder.string(), failure.message()));
}

}  // namespace sotto
