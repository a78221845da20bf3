#pragma once

#include <string_view>

namespace sotto {

/// A file that was built into the program (src/experiment/page/CMakeLists.txt lists them); empty
/// for one that was not.
[[nodiscard]] std::string_view embedded_file(std::string_view name);

}  // namespace sotto
