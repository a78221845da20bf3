#pragma once

#include <string_view>

namespace sotto {

/// A file built into the program (cmake/SottoPage.cmake lists them); empty if there is none.
[[nodiscard]] std::string_view embedded_file(std::string_view name);

}  // namespace sotto
