#pragma once

// Checkpoints of a run directory; not installed.

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sotto/agent/checkpoint.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// Time a run has taken, that of earlier starts included [s]. A checkpoint holds process 0's.
struct RunTotals {
    double loop_seconds = 0, evaluate_seconds = 0;
};

/// Rank 0's word that all agents have written a checkpoint: checkpoints/<round>/manifest.json.
struct SealedCheckpoint {
    long round = 0;
    int phase = 0;
    bool clean = false;  ///< nothing was sent after it with its keys, when it was made
    std::map<int, std::string> digests;  ///< hexadecimal, of every agent's file, by number
    RunTotals totals;
};

[[nodiscard]] std::string to_json(const SealedCheckpoint& sealed);
/// @throws DataError, or an exception of the JSON library, for any other text.
[[nodiscard]] SealedCheckpoint sealed_checkpoint_from_json(const std::string& text);

/// Writes every local agent's file, and, once all processes have, the manifest; then forgets all
/// but the last two. COLLECTIVE. @throws ConfigError, the same everywhere, if something cannot be
/// written: the checkpoints before are untouched then.
void seal_checkpoint(const std::filesystem::path& directory,
                     Network& network,
                     SealedCheckpoint sealed,
                     const std::vector<Checkpoint>& local);

/// The newest checkpoint whose files all are there and whole, and those of the local agents.
struct FoundCheckpoint {
    SealedCheckpoint sealed;
    std::vector<Checkpoint> local;
    std::vector<std::string> notes;  ///< a line for everything that was passed over
};
/// COLLECTIVE. @param numbers of the local agents.
/// @throws DataError, the same everywhere, if there is none.
[[nodiscard]] FoundCheckpoint find_checkpoint(const std::filesystem::path& directory,
                                              Network& network,
                                              std::span<const int> numbers);

}  // namespace sotto
