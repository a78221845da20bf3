#pragma once

#include <string>
#include <vector>

#include "commands/cli/command.hpp"
#include "sotto/core/names.hpp"

namespace sotto::cli {

// Scripts that a shell loads to complete command lines of sotto: commands, options, values that are
// words, files and folders. After `sotto supervise -- mpirun ... sotto` completion starts again.

/// For bash 4.4 or newer, without the package bash-completion.
[[nodiscard]] std::string bash_completion(const Registry<Command>& commands);
/// For zsh's compinit, under the name _sotto.
[[nodiscard]] std::string zsh_completion(const Registry<Command>& commands);
/// For fish 3, under the name sotto.fish.
[[nodiscard]] std::string fish_completion(const Registry<Command>& commands);

/// What a shell can complete about an option.
struct CompletedOption {
    std::string name;  ///< without --
    std::string help;  ///< short
    bool takes_value = true;
    bool positional = false;         ///< a word without an option name is its value
    std::vector<std::string> words;  ///< values; after one that ends in ":" the user types the rest
    bool files = false, folders = false;

    friend bool operator==(const CompletedOption&, const CompletedOption&) = default;
};
[[nodiscard]] CompletedOption completed_option(const WrittenOption& option);

/// Options that the same commands have.
struct CompletedGroup {
    std::vector<std::string> commands;  ///< in the order of the command table
    std::vector<CompletedOption> options;
};
/// All options of all commands, each once, or once per meaning if commands differ in it.
[[nodiscard]] std::vector<CompletedGroup> completed_groups(const Registry<Command>& commands);

/// The values of an option as the scripts name them: its words, FILE, DIR.
[[nodiscard]] std::vector<std::string> value_tokens(const CompletedOption& option);

}  // namespace sotto::cli
