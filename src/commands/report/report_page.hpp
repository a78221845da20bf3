#pragma once

#include <map>
#include <string>
#include <string_view>

namespace sotto {

/// @throws ConfigError naming the packages if this program was built without the libraries that
/// draw the page.
void require_page_libraries();

/// Text as it stands between tags of HTML: <, > and & have names.
[[nodiscard]] std::string html_text(const std::string& text);

/// What has a browser open the page again after so many seconds; nothing for 0.
[[nodiscard]] std::string refresh_html(int seconds);

/// A page of this program (report.html, statement.html) with what it names in {{ }} in its place:
/// one of these values, or else one of the program's files.
[[nodiscard]] std::string page_of(std::string_view frame,
                                  const std::map<std::string_view, std::string>& values);

/// A JSON object as it stands in an element of a page: nothing in it ends the element.
[[nodiscard]] std::string page_json(std::string data);

}  // namespace sotto
