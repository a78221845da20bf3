#pragma once

#include <string>
#include <vector>

#include "commands/cli/command.hpp"
#include "sotto/core/names.hpp"

namespace sotto::cli {

// Scripts that a shell loads to complete command lines of sotto: commands, their options, values
// that are a word, files and folders. Behind `sotto supervise -- mpirun ... sotto` they start anew.

/// For bash 4.4 or newer; needs nothing of the package bash-completion.
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
    bool positional = false;         ///< a word by itself is its value
    std::vector<std::string> words;  ///< values; one that ends in : goes on with what is typed
    bool files = false, folders = false;

    friend bool operator==(const CompletedOption&, const CompletedOption&) = default;
};
[[nodiscard]] CompletedOption completed_option(const WrittenOption& option);

/// Options that the same commands have.
struct CompletedGroup {
    std::vector<std::string> commands;  ///< in the order of their table
    std::vector<CompletedOption> options;
};
/// All options of all commands, each once, or, where commands mean different things by a name, once
/// for each meaning.
[[nodiscard]] std::vector<CompletedGroup> completed_groups(const Registry<Command>& commands);

/// What a script of any shell calls the values of an option: its words, FILE, DIR.
[[nodiscard]] std::vector<std::string> value_tokens(const CompletedOption& option);

}  // namespace sotto::cli
