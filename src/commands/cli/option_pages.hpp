#pragma once

#include <string>
#include <vector>

#include "commands/cli/command.hpp"
#include "sotto/core/names.hpp"

namespace sotto::cli {

/// A page of docs/cli, in Markdown.
struct OptionPage {
    std::string file;  ///< name in that folder
    std::string text;
};

/// One page per group of options, in the order of the commands. Groups with the same title share a
/// page.
[[nodiscard]] std::vector<OptionPage> option_pages(const Registry<Command>& commands);

}  // namespace sotto::cli
