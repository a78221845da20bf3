#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/checkpoint.hpp"
#include "core/stopwatch.hpp"
#include "net/control.hpp"
#include "store/agent_files.hpp"

namespace sotto {

/// Time a run has taken, earlier starts included [s], by process 0's clock.
struct RunTotals {
    double loop_seconds = 0, evaluate_seconds = 0;
};

/// checkpoints/<round>/manifest.json: process 0's confirmation that all agents have written a
/// checkpoint.
struct SealedCheckpoint {
    long round = 0;
    int phase = 0;
    int beginning = 0;                   ///< beginning_of the agents' checkpoints
    bool clean = false;                  ///< nothing had been sent after it with its keys
    std::map<int, std::string> digests;  ///< hexadecimal, of every agent's file, by number
    RunTotals totals;
};

/// Most checkpoints examined on resume; two are kept.
inline constexpr int most_checkpoints = 64;

/// The key epoch of a phase that begins with this checkpoint after earlier rounds; else 0.
[[nodiscard]] int beginning_of(const Checkpoint& checkpoint);

/// Path of a round's checkpoint. A checkpoint that begins a phase has its own folder, so the one
/// that was resumed from stays.
[[nodiscard]] std::filesystem::path checkpoint_folder(const std::filesystem::path& directory,
                                                      long round,
                                                      int beginning = 0);
/// The agents' files in it (AgentFiles): a process writes one for all its agents.
inline constexpr std::string_view checkpoint_ending = ".checkpoint", seeds_ending = ".seeds";
[[nodiscard]] inline AgentFiles checkpoints_in(const std::filesystem::path& folder) {
    return {folder, checkpoint_ending};
}
/// @throws DataError naming the file for a missing or damaged one.
[[nodiscard]] StoredCheckpoint read_checkpoint(const AgentFiles& files, int agent);
/// Newest first.
[[nodiscard]] std::vector<std::filesystem::path> checkpoint_folders(
    const std::filesystem::path& directory);

[[nodiscard]] std::string to_json(const SealedCheckpoint& sealed);
/// @throws DataError for any other text.
[[nodiscard]] SealedCheckpoint sealed_checkpoint_from_json(const std::string& text);

/// Writes the local agents' checkpoints to one file, and their seeds to another; once all processes
/// have, the manifest; then removes all but the last two checkpoints. COLLECTIVE.
/// @param seeds of every local agent, sealed (checkpoint.hpp); empty: not kept.
/// @throws ConfigError, the same everywhere, if something cannot be written; earlier checkpoints
/// are then unchanged.
void seal_checkpoint(const std::filesystem::path& directory,
                     Control& network,
                     SealedCheckpoint sealed,
                     const std::vector<Checkpoint>& local,
                     const std::vector<std::string>& seeds = {});

/// The newest checkpoint with all files intact, and those of the local agents.
struct FoundCheckpoint {
    SealedCheckpoint sealed;
    /// Phase and round of the newest one that process 0 has sealed, usable or not.
    std::pair<int, long> newest{0, 0};
    std::vector<Checkpoint> local;
    std::vector<std::string> notes;  ///< one per checkpoint that was skipped
};
/// COLLECTIVE. @param numbers of the local agents.
/// @throws DataError, the same everywhere, if there is none.
[[nodiscard]] FoundCheckpoint find_checkpoint(const std::filesystem::path& directory,
                                              Control& network,
                                              std::span<const int> numbers);

/// The files with sealed seeds of the agents of this checkpoint.
[[nodiscard]] AgentFiles saved_seeds_of(const std::filesystem::path& directory,
                                        const Checkpoint& checkpoint);

/// Erases the sealed seeds of all agents and checkpoints in the directory (erase_file) once they
/// are not needed: with them and identities stolen later, noise could be removed from recorded
/// messages. LOCAL; several processes may do so at once.
/// @throws ConfigError naming a file that cannot be erased.
void erase_saved_seeds(const std::filesystem::path& directory);

}  // namespace sotto
