#pragma once

#include <string>

namespace sotto {

/// @throws ConfigError naming the packages if this program was built without the libraries that
/// draw the page.
void require_page_libraries();

/// The page with its style, programs and libraries around the data.
/// @param title plain text.  @param data one JSON object.
[[nodiscard]] std::string page_of(const std::string& title, std::string data);

}  // namespace sotto
