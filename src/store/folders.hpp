#pragma once

#include <filesystem>

namespace sotto {

/// Makes a folder, and those above it, where they are not there yet (make_private_folder).
/// @throws as throw_write_failure does, with path and reason.
void create_folder(const std::filesystem::path& folder);

}  // namespace sotto
