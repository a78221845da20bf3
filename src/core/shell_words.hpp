#pragma once

#include <string>
#include <vector>

namespace sotto {

/// One word of a shell's command line, between apostrophes where its letters need that.
[[nodiscard]] std::string shell_quoted(const std::string& word);
/// A command line.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

}  // namespace sotto
