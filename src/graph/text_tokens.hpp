#pragma once

#include <string>
#include <string_view>

namespace sotto {

/// Takes the next token off the front of `rest`. Tokens are separated by blanks, tabs and commas;
/// a token that begins with # or % starts a comment that ends the line. Empty at the end.
[[nodiscard]] std::string_view take_token(std::string_view& rest);

/// Text of unknown origin, short and printable enough to be quoted in a message.
[[nodiscard]] std::string for_message(std::string_view text);

/// Whether the line holds bytes that no text file holds (control characters other than blanks).
[[nodiscard]] bool looks_binary(std::string_view line);

}  // namespace sotto
