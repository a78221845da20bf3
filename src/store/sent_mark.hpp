#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/stopwatch.hpp"
#include "net/control.hpp"
#include "sotto/core/hash.hpp"
#include "store/copies.hpp"

namespace sotto {

/// Records which rounds a process may have sent, for use after a failure. Two marks: one flushed to
/// disk, about two seconds of rounds ahead (sent/<lowest local agent>), and an exact one that costs
/// a write per round and outlasts the process but not its host (sent/<lowest local agent>.now). The
/// first names the boot of the host for which the second counts.
class SentMark {
  public:
    /// @param numbers of the local agents.  @param phase of the run.  @param session of this start,
    /// which the local agents' records (OwnRecord) contain before the mark is set.
    SentMark(std::filesystem::path directory,
             const Digest& run,
             std::vector<int> numbers,
             int phase,
             const Digest& session);
    /// Call before a round is sent. @param limit the mark on disk does not exceed this round.
    void before_round(long round, long limit);
    /// Exactly the rounds below `round` were sent; call at a clean stop.
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

struct FoundMark {
    std::filesystem::path file;
    int phase = 0;
    Digest session{};           ///< of the start that set it
    long round = 0;             ///< all rounds below it may have been sent
    std::vector<int> agents{};  ///< ascending
    [[nodiscard]] bool names(int agent) const { return std::ranges::binary_search(agents, agent); }
};
/// Marks in the directory that name one of these agents. LOCAL. @throws DataError naming a file
/// that is damaged, or of another run.
[[nodiscard]] std::vector<FoundMark> marks_of(const std::filesystem::path& directory,
                                              const Digest& run,
                                              std::span<const int> agents);

/// Writes a mark for an agent whose disk was lost. LOCAL.
/// @param mark its phase, session and round, before which all may have been sent.  @param
/// in_any_case even if an older mark exists.  @throws ConfigError.
void restore_mark(RestoredFiles& files,
                  const std::filesystem::path& directory,
                  const Digest& run,
                  int agent,
                  const FoundMark& mark,
                  bool in_any_case = false);

/// Whether a mark in the directory, on this host, says that a round may have been sent; true for an
/// unreadable mark.
[[nodiscard]] bool may_have_sent(const std::filesystem::path& directory);
/// Removes the marks of a start whose run did not begin.
void forget_marks(const std::filesystem::path& directory);

struct MarkedRounds {
    Digest run{};
    long rounds = 0;            ///< of the whole run, the limit of any mark
    int phase = 0;              ///< last one of the run
    std::vector<int> numbers;   ///< agents asked about
    std::vector<int> going_on;  ///< those of them whose marks must exist
    long until = 0;             ///< value for agents whose mark is lost
    std::vector<int> local;     ///< local agents
};

/// The first round of the phase that cannot have been sent, from the marks on all hosts; nothing if
/// none was. Nobody can lower the marks that this process finds for its own agents. COLLECTIVE.
/// @throws DataError, the same everywhere, naming an agent that continues and whose mark is
/// missing, damaged, or of a later phase (process 0's files are then older); or a process whose
/// marks are of rounds that the run does not have.
[[nodiscard]] std::optional<long> sent_before(const std::filesystem::path& directory,
                                              Control& network,
                                              const MarkedRounds& asked);

}  // namespace sotto
