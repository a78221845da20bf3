#pragma once

// Checkpoints of a run directory; not installed.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/agent/checkpoint.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// What a run has used up before this start [s, bytes]; on process 0.
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

/// Writes every local agent's file, and, once all processes have, the manifest; then forgets all
/// but the last two. COLLECTIVE. @throws ConfigError, the same everywhere, if something cannot be
/// written: the checkpoints before are untouched then.
void seal_checkpoint(const std::filesystem::path& directory,
                     Network& network,
                     SealedCheckpoint sealed,
                     const std::vector<Checkpoint>& local);

/// The newest checkpoint whose files all are there and whole, and those of the local agents.
/// COLLECTIVE. @param numbers of the local agents.
/// @param notes gets a line for everything that was passed over.
/// @throws DataError, the same everywhere, if there is none.
struct FoundCheckpoint {
    SealedCheckpoint sealed;
    std::vector<Checkpoint> local;
};
[[nodiscard]] FoundCheckpoint find_checkpoint(const std::filesystem::path& directory,
                                              Network& network,
                                              std::span<const int> numbers,
                                              std::vector<std::string>& notes);

/// Keeps account of the rounds a process sends, so that after a failure it is known what may have
/// left. Two marks: one flushed to disk, set for about two seconds of rounds ahead (file
/// sent/<lowest local agent>), and one that is exact and costs a write a round, which survives the
/// process but not its host (sent/<lowest local agent>.now); the first names the start of the host
/// for which the second counts.
class SentMark {
  public:
    /// @param numbers of the local agents.  @param phase of the run.
    SentMark(std::filesystem::path directory,
             const Digest& run,
             std::vector<int> numbers,
             int phase);
    /// Before a round is sent. @param limit the mark on disk goes no further than this round.
    void before_round(long round, long limit);
    /// Everything below `round` was sent, and nothing else; for a clean stop.
    void set(long round);

  private:
    void write_now(long round);
    std::filesystem::path file_;
    std::string head_;
    int phase_;
    std::shared_ptr<int> now_;  // descriptor of the exact mark
    long mark_ = 0;
    long block_ = 1;
    std::optional<Clock::time_point> last_;
};

/// The first round of `phase` of which nothing has left, from the marks on all hosts; nothing if
/// none left. COLLECTIVE. @param numbers agents whose marks must be found somewhere.
/// @throws DataError, the same everywhere, naming an agent whose mark is missing or damaged.
[[nodiscard]] std::optional<long> sent_before(const std::filesystem::path& directory,
                                              Network& network,
                                              const Digest& run,
                                              int phase,
                                              const std::vector<int>& numbers);

}  // namespace sotto
