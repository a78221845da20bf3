#pragma once

// Copies on another disk of what process 0 alone keeps of a run; not installed.

#include <filesystem>

#include "sotto/net/network.hpp"
#include "store/restored_files.hpp"

namespace sotto {

/// Gives options, history and plans of process 0 to the process that keeps them: file
/// checkpoints/run.copy of that process. Before the first round of every start. COLLECTIVE.
/// @throws ConfigError, the same everywhere, if they cannot be read or written.
void keep_history(const std::filesystem::path& directory, Network& network, int keeper);

/// The same of the manifest of one checkpoint and of the metrics so far: file
/// checkpoints/<round>/run.copy. COLLECTIVE. @param folder of the checkpoint (checkpoint_folder).
void keep_manifest(const std::filesystem::path& directory,
                   Network& network,
                   int keeper,
                   const std::filesystem::path& folder);

/// Where process 0 has no options or no history of the run, and somebody has copies: the newest
/// copies become its files. They are another's word, as process 0's own files are to all others.
/// COLLECTIVE, before anything else is read of the run. @param files takes them.  @return whether
/// there was something to restore, on every process.
bool restore_history(RestoredFiles& files,
                     const std::filesystem::path& directory,
                     Network& network);

}  // namespace sotto
