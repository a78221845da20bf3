#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/network.hpp"
#include "sotto/plan/membership.hpp"
#include "trust/identity.hpp"

namespace sotto {

// Files of a run that are made from copies.

/// Whether restored files are there for good, or only as long as a dry run looks at them.
enum class Stay { for_good, for_a_look };

/// Writes files of a run directory that were lost. Those for a look go with this object, and so do
/// the folders that were made for them; what was there before is there again. (Not where the
/// process is killed meanwhile: then they are those of a start that was.)
class RestoredFiles {
  public:
    /// @param directory of the run. Several processes may restore into it at once: what of it was
    /// not there when this was made goes with the last of them.
    explicit RestoredFiles(Stay stay, const std::filesystem::path& directory = {});
    ~RestoredFiles();
    RestoredFiles(const RestoredFiles&) = delete;
    RestoredFiles& operator=(const RestoredFiles&) = delete;

    /// In one step (write_file_atomically), for their owner alone; folders are made as needed.
    /// @throws as throw_write_failure does.
    void write(const std::filesystem::path& file, std::string_view bytes);
    [[nodiscard]] Stay stay() const { return stay_; }

  private:
    void make_folder(const std::filesystem::path& folder);
    /// Empty folders of the run's directory in which the file was, and the directory.
    void remove_empty_around(const std::filesystem::path& file) const;
    struct Written {
        std::filesystem::path file;
        std::optional<std::string> before;
    };
    Stay stay_;
    std::filesystem::path directory_;
    std::vector<std::filesystem::path> missing_;  // the directory and those above, innermost first
    std::vector<Written> files_;
    std::vector<std::filesystem::path> folders_;  // from the outermost on
};

// Copies of checkpoints on other disks.

/// How the name of a copy ends.
inline constexpr std::string_view copy_ending = ".copy";

/// Which checkpoint is copied, and what may be sent before the next one is.
struct CopiedCheckpoint {
    long round = 0;
    int beginning = 0;  ///< beginning_of it
    int phase = 0;      ///< of the run that goes on from it
    long until = 0;     ///< CheckpointCopy::until
};

/// Gives every local agent's checkpoint and its record of what it has revealed (OwnRecord), sealed
/// for the agent's own identity, to the process that keeps its copies:
/// checkpoints/<round>/agent-<number>.copy of that process. COLLECTIVE.
/// @param keepers keepers_on, not empty.  @param members who takes part.  @param identities of the
/// local agents; none: there are no copies, since others could read them.
/// @throws ConfigError, the same everywhere, if something cannot be written; NetworkError naming a
/// rank that gives copies of agents that it does not host.
void keep_copies(const std::filesystem::path& directory,
                 Network& network,
                 const std::vector<int>& keepers,
                 const CopiedCheckpoint& copied,
                 const Membership& members,
                 std::span<const Identity> identities);

/// Where a local agent's checkpoint is missing that somebody has a copy of, writes it again, and
/// where the agent's record is missing or older than the newest copy, that one, with a mark of sent
/// rounds that counts all that may have left by it; a mark that is missing, too. What does not open
/// is left out. Everybody who keeps a copy is asked. COLLECTIVE.
/// @param files takes them.  @param identity of a local agent by its index, read only where it is
/// needed; null: this process was given none.
/// @return on every process a line for each agent that was restored, and each checkpoint of which
/// no copy opens, as their processes say.
/// @throws DataError, the same everywhere, for an agent that has nothing but copies, and no
/// identity to open them.
[[nodiscard]] std::vector<std::string> restore_from_copies(
    RestoredFiles& files,
    const std::filesystem::path& directory,
    Network& network,
    const Membership& members,
    const std::function<Identity(std::size_t local_index)>& identity);

/// Removes the copies that this process keeps in the folder of one checkpoint. LOCAL.
void forget_copies(const std::filesystem::path& folder);

// Copies on another disk of what process 0 alone keeps of a run.

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
