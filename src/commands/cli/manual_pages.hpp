#pragma once

#include <string>
#include <vector>

#include "commands/cli/command.hpp"
#include "sotto/core/registry.hpp"

namespace sotto::cli {

/// A page of section 1 of the manual, in troff's language (man macros).
struct ManualPage {
    std::string file;  ///< "sotto-train.1"
    std::string text;
};

/// sotto(1), and one page a command: what the records of commands, options and exit codes say. The
/// same text whenever and wherever it is made.
[[nodiscard]] std::vector<ManualPage> manual_pages(const Registry<Command>& commands);

}  // namespace sotto::cli
