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

/// One page a group of options, with all that is known about them, in the order of the commands.
/// Groups of one title are on one page.
[[nodiscard]] std::vector<OptionPage> option_pages(const Registry<Command>& commands);

}  // namespace sotto::cli
