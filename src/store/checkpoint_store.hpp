#pragma once

// Checkpoints of a run directory.

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "agent/checkpoint.hpp"
#include "core/stopwatch.hpp"
#include "net/network.hpp"

namespace sotto {

/// Time a run has taken, that of earlier starts included [s]. A checkpoint holds process 0's.
struct RunTotals {
    double loop_seconds = 0, evaluate_seconds = 0;
};

/// Rank 0's word that all agents have written a checkpoint: checkpoints/<round>/manifest.json.
struct SealedCheckpoint {
    long round = 0;
    int phase = 0;
    int beginning = 0;   ///< beginning_of the agents' checkpoints
    bool clean = false;  ///< nothing was sent after it with its keys, when it was made
    std::map<int, std::string> digests;  ///< hexadecimal, of every agent's file, by number
    RunTotals totals;
};

/// Checkpoints that are looked at when a run is resumed; two are kept.
inline constexpr int most_checkpoints = 64;

/// The key epoch of a phase that begins with this checkpoint, after rounds of others; else 0.
[[nodiscard]] int beginning_of(const Checkpoint& checkpoint);

/// Where the checkpoint of a round is, and an agent's file in it. With which a phase begins anew
/// has a folder of its own: that of the round from which the run was resumed stays as it was.
[[nodiscard]] std::filesystem::path checkpoint_folder(const std::filesystem::path& directory,
                                                      long round,
                                                      int beginning = 0);
[[nodiscard]] std::filesystem::path checkpoint_file(const std::filesystem::path& folder, int agent);
/// All folders of checkpoints, newest first.
[[nodiscard]] std::vector<std::filesystem::path> checkpoint_folders(
    const std::filesystem::path& directory);

[[nodiscard]] std::string to_json(const SealedCheckpoint& sealed);
/// @throws DataError for any other text.
[[nodiscard]] SealedCheckpoint sealed_checkpoint_from_json(const std::string& text);

/// Writes every local agent's files, and, once all processes have, the manifest; then forgets all
/// but the last two. COLLECTIVE.
/// @param seeds of every local agent, sealed (checkpoint.hpp); none: they are not kept.
/// @throws ConfigError, the same everywhere, if something cannot be written: the checkpoints before
/// are untouched then.
void seal_checkpoint(const std::filesystem::path& directory,
                     Network& network,
                     SealedCheckpoint sealed,
                     const std::vector<Checkpoint>& local,
                     const std::vector<std::string>& seeds = {});

/// The newest checkpoint whose files all are there and whole, and those of the local agents.
struct FoundCheckpoint {
    SealedCheckpoint sealed;
    /// Of the newest one that process 0 has sealed, usable or not: phase and round.
    std::pair<int, long> newest{0, 0};
    std::vector<Checkpoint> local;
    std::vector<std::string> notes;  ///< a line for everything that was passed over
};
/// COLLECTIVE. @param numbers of the local agents.
/// @throws DataError, the same everywhere, if there is none.
[[nodiscard]] FoundCheckpoint find_checkpoint(const std::filesystem::path& directory,
                                              Network& network,
                                              std::span<const int> numbers);

/// Where the sealed seeds of an agent are that belong to this checkpoint of it.
[[nodiscard]] std::filesystem::path saved_seeds_file(const std::filesystem::path& directory,
                                                     const Checkpoint& checkpoint);

/// Erases the sealed seeds of all agents and checkpoints in the directory (erase_file), once they
/// are of no use any more: with them, and identities stolen later, noise could be removed from
/// messages that somebody recorded. LOCAL; several processes may do so at once.
/// @throws ConfigError naming a file that cannot be erased.
void erase_saved_seeds(const std::filesystem::path& directory);

}  // namespace sotto
