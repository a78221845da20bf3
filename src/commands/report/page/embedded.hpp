#pragma once

#include <string_view>

namespace sotto {

/// A file that was built into the program (cmake/SottoPage.cmake lists them); empty
/// for one that was not.
[[nodiscard]] std::string_view embedded_file(std::string_view name);

}  // namespace sotto
