#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto::cli {

/// The meaning of an exit code, for help, manual pages and the table of docs/cli.md.
struct ExitCodeRecord {
    ExitCode code;
    std::string_view name;     ///< in a few words: "privacy refused"
    std::string_view meaning;  ///< the same, and when it occurs
    std::string_view helps;    ///< what to do; Markdown, links as in docs/cli.md
};

/// All codes, ascending.
[[nodiscard]] const std::vector<ExitCodeRecord>& exit_codes();
/// "0 done, 1 other, ...".
[[nodiscard]] std::string exit_code_list();

}  // namespace sotto::cli
