#pragma once

#include <string>

#include "commands/cli/command.hpp"
#include "sotto/core/registry.hpp"

namespace sotto::cli {

// Scripts that a shell loads to complete command lines of sotto: commands, their options, values
// that are a word, files and folders. Behind `sotto supervise -- mpirun ... sotto` they start anew.

/// For bash 4.4 or newer; needs nothing of the package bash-completion.
[[nodiscard]] std::string bash_completion(const Registry<Command>& commands);
/// For zsh's compinit, under the name _sotto.
[[nodiscard]] std::string zsh_completion(const Registry<Command>& commands);
/// For fish 3, under the name sotto.fish.
[[nodiscard]] std::string fish_completion(const Registry<Command>& commands);

}  // namespace sotto::cli
