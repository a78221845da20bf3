#pragma once

// Rounds of a run that may have left.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/stopwatch.hpp"
#include "net/network.hpp"
#include "sotto/core/hash.hpp"
#include "store/copies.hpp"

namespace sotto {

/// Keeps account of the rounds a process sends, so that after a failure it is known what may have
/// left. Two marks: one flushed to disk, set for about two seconds of rounds ahead (file
/// sent/<lowest local agent>), and one that is exact and costs a write a round, which survives the
/// process but not its host (sent/<lowest local agent>.now); the first names the start of the host
/// for which the second counts.
class SentMark {
  public:
    /// @param numbers of the local agents.  @param phase of the run.  @param session of this start,
    /// which the records of the local agents have (OwnRecord) before the mark is set.
    SentMark(std::filesystem::path directory,
             const Digest& run,
             std::vector<int> numbers,
             int phase,
             const Digest& session);
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

/// What a mark on this host says.
struct FoundMark {
    std::filesystem::path file;
    int phase = 0;
    Digest session{};  ///< of the start that set it
    long round = 0;    ///< below which all may have left
};
/// Marks in the directory that name one of these agents. LOCAL. @throws DataError naming a file
/// that is damaged, or of another run.
[[nodiscard]] std::vector<FoundMark> marks_of(const std::filesystem::path& directory,
                                              const Digest& run,
                                              std::span<const int> agents);

/// Writes a mark for an agent that has none in the directory: its disk was lost. LOCAL.
/// @param mark its phase, session and round; all before that may have left.  @param in_any_case
/// also beside one that is there, which is older.  @throws ConfigError.
void restore_mark(RestoredFiles& files,
                  const std::filesystem::path& directory,
                  const Digest& run,
                  int agent,
                  const FoundMark& mark,
                  bool in_any_case = false);

/// Whether a mark in the directory, on this host, says that a round may have left; one that cannot
/// be read says so, too.
[[nodiscard]] bool may_have_sent(const std::filesystem::path& directory);
/// Removes the marks there, of a start whose run did not begin.
void forget_marks(const std::filesystem::path& directory);

/// What marks are asked for.
struct MarkedRounds {
    Digest run{};
    long rounds = 0;            ///< of the whole run: no mark says more
    int phase = 0;              ///< the last one of the run
    std::vector<int> numbers;   ///< agents whose rounds are asked for
    std::vector<int> going_on;  ///< of these, those whose marks must be found somewhere
    long until = 0;             ///< what counts for others whose mark is lost
    std::vector<int> local;     ///< those of this process
};

/// The first round of the phase of which nothing has left, from the marks on all hosts; nothing if
/// none left. Of marks that this process finds for its own agents nobody else can make less.
/// COLLECTIVE. @throws DataError, the same everywhere, naming an agent that goes on and whose mark
/// is missing or damaged, or of a phase after this one: what rank 0 has is older; or a process
/// whose marks are of rounds that the run does not have.
[[nodiscard]] std::optional<long> sent_before(const std::filesystem::path& directory,
                                              Network& network,
                                              const MarkedRounds& asked);

}  // namespace sotto
