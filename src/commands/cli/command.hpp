#pragma once

#include <string>
#include <utility>
#include <vector>

#include "options/written_options.hpp"
#include "sotto/core/names.hpp"

namespace sotto::cli {

/// One subcommand. To add one, add a folder and a line in the table of command.cpp, or link a file
/// of its own into the program (Registered).
struct Command {
    std::string name{};
    std::string summary{};      ///< one line
    std::string example{};      ///< shown at the end of its help
    std::string description{};  ///< more text for its manual page, in Markdown
    /// Files it reads or writes by itself, for its manual page: name and content.
    std::vector<std::pair<std::string, std::string>> files{};
    /// Its options, with their default values.
    std::vector<WrittenGroup> (*options)() = nullptr;
    bool parallel = false;  ///< takes part in an MPI job; others run on rank 0 only
    /// @return exit code. @throws Error.
    int (*run)(const std::vector<std::string>& arguments) = nullptr;
};

/// The output of `sotto <command> --help`: the common options if there are more than 25.
/// @param all for `--help all`.
[[nodiscard]] std::string help_for(const Command& command, bool all = false);

/// All subcommands; each is in src/commands/FOLDER/NAME_command.cpp.
[[nodiscard]] Registry<Command>& commands();
[[nodiscard]] Command graph_command();
[[nodiscard]] Command plan_command();
[[nodiscard]] Command account_command();
[[nodiscard]] Command train_command();
[[nodiscard]] Command sweep_command();
[[nodiscard]] Command predict_command();
[[nodiscard]] Command compare_command();
[[nodiscard]] Command ledger_command();
[[nodiscard]] Command report_command();
[[nodiscard]] Command watch_command();
[[nodiscard]] Command audit_command();
[[nodiscard]] Command doctor_command();
[[nodiscard]] Command supervise_command();
[[nodiscard]] Command keygen_command();

}  // namespace sotto::cli
