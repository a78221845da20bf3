#pragma once

#include <string>

#include "options/written_options.hpp"

namespace sotto {

/// "--name VALUE", "--name", "--name [FILE]": how an option is typed.
[[nodiscard]] std::string usage_of(const WrittenOption& option);
/// Values that are allowed, where the help does not name them already; else empty.
[[nodiscard]] std::string values_beside_help(const WrittenOption& option);
/// Its default; empty where it has none.
[[nodiscard]] std::string default_of(const WrittenOption& option);

}  // namespace sotto
