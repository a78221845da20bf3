#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/control.hpp"
#include "sotto/plan/membership.hpp"
#include "trust/identity.hpp"

namespace sotto {

/// Whether restored files stay, or last for a dry run only.
enum class Stay { for_good, for_a_look };

/// Writes lost files of a run directory. With for_a_look the destructor restores the previous
/// state, files and folders, unless the process is killed before.
class RestoredFiles {
  public:
    /// @param directory of the run. Several processes may restore into it at once: what was missing
    /// at construction is removed by the last of them.
    explicit RestoredFiles(Stay stay, const std::filesystem::path& directory = {});
    ~RestoredFiles();
    RestoredFiles(const RestoredFiles&) = delete;
    RestoredFiles& operator=(const RestoredFiles&) = delete;

    /// Atomically (write_file_atomically), for the owner only; makes folders as needed.
    /// @throws as throw_write_failure.
    void write(const std::filesystem::path& file, std::string_view bytes);
    [[nodiscard]] Stay stay() const { return stay_; }

  private:
    void make_folder(const std::filesystem::path& folder);
    /// Removes empty folders of the run's directory around the file, and the directory.
    void remove_empty_around(const std::filesystem::path& file) const;
    struct Written {
        std::filesystem::path file;
        std::optional<std::string> before;
    };
    Stay stay_;
    std::filesystem::path directory_;
    std::vector<std::filesystem::path> missing_;  // the directory and its parents, innermost first
    std::vector<Written> files_;
    std::vector<std::filesystem::path> folders_;  // outermost first
};

inline constexpr std::string_view copy_ending = ".copy";

/// The copied checkpoint, and what may be sent before the next copy.
struct CopiedCheckpoint {
    long round = 0;
    int beginning = 0;  ///< beginning_of it
    int phase = 0;      ///< of the run that goes on from it
    long until = 0;     ///< CheckpointCopy::until
};

/// Gives every local agent's checkpoint and record of what it has revealed (OwnRecord), sealed for
/// the agent's own identity, to the process that keeps its copies, as
/// checkpoints/<round>/agent-<number>.copy. COLLECTIVE.
/// @param keepers from keepers_on, not empty.  @param members who takes part.  @param identities of
/// the local agents; empty: no copies are made, since others could read them.
/// @throws ConfigError, the same everywhere, if something cannot be written; NetworkError naming a
/// rank that gives copies of agents it does not host.
void keep_copies(const std::filesystem::path& directory,
                 Control& network,
                 const std::vector<int>& keepers,
                 const CopiedCheckpoint& copied,
                 const Membership& members,
                 std::span<const Identity> identities);

/// Restores from copies what a local agent lacks: checkpoints; its record, also if older than the
/// newest copy's, with a mark that counts all rounds that may have been sent by it; and a mark.
/// Asks all keepers; skips copies that do not open. COLLECTIVE.
/// @param files writes them.  @param identity of a local agent by its index, read only if needed;
/// null: this process has none.
/// @return on every process, a line for each restored agent and each checkpoint without a copy that
/// opens.
/// @throws DataError, the same everywhere, for an agent that has only copies, and no identity to
/// open them.
[[nodiscard]] std::vector<std::string> restore_from_copies(
    RestoredFiles& files,
    const std::filesystem::path& directory,
    Control& network,
    const Membership& members,
    const std::function<Identity(std::size_t local_index)>& identity);

/// Removes the copies that this process keeps of one checkpoint. LOCAL.
void forget_copies(const std::filesystem::path& folder);

/// Gives process 0's options, history and plans to their keeper, as checkpoints/run.copy. Call
/// before the first round of every start. COLLECTIVE.
/// @throws ConfigError, the same everywhere, if they cannot be read or written.
void keep_history(const std::filesystem::path& directory, Control& network, int keeper);

/// The same for the manifest of one checkpoint and the metrics so far:
/// checkpoints/<round>/run.copy. COLLECTIVE. @param folder of the checkpoint (checkpoint_folder).
void keep_manifest(const std::filesystem::path& directory,
                   Control& network,
                   int keeper,
                   const std::filesystem::path& folder);

/// If process 0 lacks options or history of the run, replaces its files by the newest copies. Like
/// process 0's own files, these are another process's claim. COLLECTIVE; call before anything else
/// of the run is read. @param files writes them.  @return on every process, whether something was
/// restored.
bool restore_history(RestoredFiles& files,
                     const std::filesystem::path& directory,
                     Control& network);

}  // namespace sotto
