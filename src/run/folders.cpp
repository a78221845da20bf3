#include "run/folders.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {

void create_folder(const std::filesystem::path& folder) {
    if (const std::error_code failure = make_private_folder(folder))
        throw ConfigError(
            fmt::format("{}: cannot be created ({})", folder.string(), failure.message()));
}

}  // namespace sotto
