#pragma once

#include <string>

namespace sotto {

/// Program version, commit and compiler of this build.
[[nodiscard]] std::string build_version();
[[nodiscard]] std::string build_commit();
[[nodiscard]] std::string build_compiler();

}  // namespace sotto
