#pragma once

#include <string>
#include <vector>

#include "commands/cli/command.hpp"
#include "sotto/core/registry.hpp"

namespace sotto::cli {

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
