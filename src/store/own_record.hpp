#pragma once

// What an agent has revealed in a run, by its own word.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/network.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

struct RunHistory;

/// All that an agent's count of a phase depends on, by name, as text: two records of it are
/// compared field by field. Rounds are not among them.
using PhaseFacts = std::vector<std::pair<std::string, std::string>>;
/// @param number of an agent that is there.  @param adjacency, delta of the run.
[[nodiscard]] PhaseFacts facts_of(const PrivacyPhase& phase,
                                  int number,
                                  Adjacency adjacency,
                                  double delta);

/// One start of an agent in a phase: written before its first message.
struct OwnEntry {
    int phase = 0;           ///< of the run's history
    Digest session{};        ///< of the start
    long rounds_before = 0;  ///< of the phase of the entry before, whose messages may have left
    PhaseFacts facts;
};

/// The record of one agent, agents/<agent>/revealed.jsonl: a line of JSON for every start, each
/// with a digest of itself and of all lines before it. Lines are only ever added.
class OwnRecord {
  public:
    OwnRecord(const Digest& run, int agent) : run_(run), agent_(agent) {}

    /// @param source names it in messages.  @throws DataError for any text but that of `text()`, or
    /// one of another run or agent.
    [[nodiscard]] static OwnRecord from_text(std::string_view text,
                                             const Digest& run,
                                             int agent,
                                             const std::string& source);
    static constexpr const char* file_name = "revealed.jsonl";
    [[nodiscard]] static std::filesystem::path file_in(const std::filesystem::path& directory,
                                                       int agent);
    /// @throws as from_text; also for a file that is missing.
    [[nodiscard]] static OwnRecord read(const std::filesystem::path& directory,
                                        const Digest& run,
                                        int agent);
    /// On disk when it returns. @throws as throw_write_failure does.
    void write(const std::filesystem::path& directory) const;

    [[nodiscard]] const std::vector<OwnEntry>& entries() const { return entries_; }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] int agent() const { return agent_; }
    /// @throws DataError unless its phase is that of the last entry, with the same facts, or a
    /// later one.
    void add(OwnEntry entry);
    /// Whether this is `older`, or what came of it.
    [[nodiscard]] bool extends(std::string_view older) const { return text_.starts_with(older); }
    /// Whether the agent sent in this phase by this start.
    [[nodiscard]] bool knows(int phase, const Digest& session) const;

  private:
    Digest run_;
    int agent_;
    std::vector<OwnEntry> entries_;
    std::string text_;
    Digest head_{};  // of the last line
};

/// What the agent's record and its marks in the directory say of a phase.
struct OwnPhase {
    int phase = 0;
    std::vector<Digest> sessions;
    long rounds = 0;  ///< that may have left, from the phase's first one on
    PhaseFacts facts;
};
/// By phase. Marks of the agent must be of starts that its record has. LOCAL.
/// @throws DataError naming the mark and the record where one of them is older than the other.
[[nodiscard]] std::vector<OwnPhase> own_phases(const std::filesystem::path& directory,
                                               const OwnRecord& record,
                                               const Digest& run);

/// The history may only add to what an agent's own record says: phases in which it sent nothing,
/// and rounds. Rounds of the history's last phase are those that are planned.
/// @throws PrivacyError naming agent, phase and field, and both values.
void require_no_less(const std::vector<OwnPhase>& own,
                     int agent,
                     const RunHistory& history,
                     Adjacency adjacency,
                     double delta);

/// Every agent knows who sent in a phase with it: one whose record lacks a phase in which another
/// one sent has an old copy of it. COLLECTIVE.
/// @param local the phases of each local agent, by its number.
/// @throws DataError, the same everywhere, naming both agents and the phase.
void require_newest(Network& network,
                    const std::vector<std::pair<int, std::vector<OwnPhase>>>& local,
                    const RunHistory& history);

}  // namespace sotto
