#pragma once

#include <string>
#include <utility>
#include <vector>

#include "options/written_options.hpp"
#include "sotto/core/names.hpp"

namespace sotto::cli {

/// One subcommand. Another one is a folder and a line in the table of command_table.cpp, or a file
/// of its own that is linked into the program (Registered).
struct Command {
    std::string name{};
    std::string summary{};      ///< one line
    std::string example{};      ///< shown at the end of its help
    std::string description{};  ///< more, for its manual page; Markdown
    /// Files it reads or writes by itself, for its manual page: name and what it holds.
    std::vector<std::pair<std::string, std::string>> files{};
    /// What it understands, as in a configuration in which nothing is given.
    std::vector<WrittenGroup> (*options)() = nullptr;
    bool parallel = false;  ///< takes part in an MPI job; others run on rank 0 only
    /// @return exit code. @throws Error.
    int (*run)(const std::vector<std::string>& arguments) = nullptr;
};

/// What `sotto <command> --help` prints. Of more than 25 options it shows the common ones.
/// @param all for `--help all`.
[[nodiscard]] std::string help_for(const Command& command, bool all = false);

/// All subcommands.
[[nodiscard]] Registry<Command>& commands();

}  // namespace sotto::cli
