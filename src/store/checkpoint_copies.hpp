#pragma once

// Copies of checkpoints on other disks; not installed.

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/net/network.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/trust/identity.hpp"
#include "store/restored_files.hpp"

namespace sotto {

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

}  // namespace sotto
