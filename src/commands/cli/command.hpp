#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/cli/options.hpp"
#include "sotto/net/network.hpp"

namespace sotto::cli {

/// One sub-command. A new command is one file and one line in the table of command.cpp.
struct Command {
    std::string name;
    std::string summary;  ///< one line
    std::string example;  ///< shown at the end of its help
    std::vector<OptionGroup> (*options)();
    bool parallel = false;  ///< takes part in an MPI job; others run on rank 0 only
    /// @return exit code. @throws Error.
    int (*run)(const std::vector<std::string>& arguments) = nullptr;
};

[[nodiscard]] const std::vector<Command>& commands();
[[nodiscard]] const Command& command_named(std::string_view name);
[[nodiscard]] std::string help_for(const Command& command);

/// Finds out before a long job whether write_json will fail. @throws ConfigError.
void require_json_writable(const ParsedOptions& options);
/// Writes the JSON object where --json says, if it is there.
void write_json(const ParsedOptions& options, const std::string& json);
/// Where text for people goes: standard error when the JSON object has standard output, else
/// standard output; nowhere with --quiet.
[[nodiscard]] std::FILE* report_stream(const ParsedOptions& options);

/// Runs a job of which this process is one rank. @return its exit code, or, where it failed, that
/// of the error after one line about it: of rank 0 where all ranks failed together; of this one
/// otherwise, and then the whole job is aborted, since the others would wait for ever.
[[nodiscard]] int run_together(Network& network, const std::function<int()>& job);

/// From now on an interrupt or termination asks for a stop; a second one ends the process at once.
void watch_for_stop();
[[nodiscard]] bool stop_requested();

/// config.ini of a run's directory. LOCAL. @throws ConfigError naming the option that gave the
/// directory if there is none.
[[nodiscard]] ConfigText config_of_run(std::string_view option, const std::string& directory);
/// What `sotto train` reads from it. @throws ConfigError.
[[nodiscard]] TrainConfig train_config_of_run(std::string_view option,
                                              const std::string& directory);

/// Every rank is an agent: --agents is the number of ranks. @throws ConfigError where it was given
/// and is another.
void resolve_agents(ParsedOptions& options, int ranks);

// One file each.
[[nodiscard]] Command account_command();
[[nodiscard]] Command audit_command();
[[nodiscard]] Command doctor_command();
[[nodiscard]] Command graph_command();
[[nodiscard]] Command keygen_command();
[[nodiscard]] Command plan_command();
[[nodiscard]] Command sweep_command();
[[nodiscard]] Command report_command();
[[nodiscard]] Command train_command();

/// Of `sotto train`.
[[nodiscard]] std::vector<OptionGroup> train_options();

/// The whole program: parses the command, prints one line per error, returns the exit code.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments);

}  // namespace sotto::cli
