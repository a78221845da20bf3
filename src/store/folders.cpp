#include "store/folders.hpp"

#include <fmt/format.h>

#include "sotto/core/files.hpp"

namespace sotto {

void create_folder(const std::filesystem::path& folder) {
    if (const std::error_code failure = make_private_folder(folder))
        throw_write_failure(
            fmt::format("{}: cannot be created ({})", folder.string(), failure.message()),
            failure.value());
}

}  // namespace sotto
