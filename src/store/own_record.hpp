#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/control.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "store/sent_mark.hpp"

namespace sotto {

struct RunHistory;

/// Everything that an agent's accounting of a phase depends on except rounds, by name, as text, to
/// be compared field by field.
using PhaseFacts = std::vector<std::pair<std::string, std::string>>;
/// Facts of the agents of one phase; those common to all are found once.
class FactsOfPhase {
  public:
    /// @param phase must outlive this.  @param adjacency, delta of the run.
    FactsOfPhase(const PrivacyPhase& phase, Adjacency adjacency, double delta);
    /// @param number of an agent of the phase.
    [[nodiscard]] PhaseFacts of(int number) const;

  private:
    const PrivacyPhase& phase_;
    PhaseFacts common_;
};
/// Numbers as the facts name them: up to 1000 one by one, more as ranges ("0-9999,10001"), so that
/// the records of all agents together do not grow with the square of their number.
[[nodiscard]] std::string agents_text(std::span<const int> ascending);

/// One start of an agent in a phase; written before its first message.
struct OwnEntry {
    int phase = 0;           ///< of the run's history
    Digest session{};        ///< of the start
    long rounds_before = 0;  ///< of the previous entry's phase, whose messages may have been sent
    PhaseFacts facts;
};

/// The record of one agent of what it has revealed in a run, agents/<agent>/revealed.jsonl: a line
/// of JSON per start, with a digest of itself and all lines before it. Append-only.
class OwnRecord {
  public:
    OwnRecord(const Digest& run, int agent) : run_(run), agent_(agent) {}

    /// @param source for messages.  @throws DataError for any text but that of `text()`, or one of
    /// another run or agent.
    [[nodiscard]] static OwnRecord from_text(std::string_view text,
                                             const Digest& run,
                                             int agent,
                                             const std::string& source);
    static constexpr const char* file_name = "revealed.jsonl";
    [[nodiscard]] static std::filesystem::path file_in(const std::filesystem::path& directory,
                                                       int agent);
    /// @throws as from_text; also if the file is missing.
    [[nodiscard]] static OwnRecord read(const std::filesystem::path& directory,
                                        const Digest& run,
                                        int agent);
    /// On disk when it returns. @throws as throw_write_failure.
    void write(const std::filesystem::path& directory) const;

    [[nodiscard]] const std::vector<OwnEntry>& entries() const { return entries_; }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] int agent() const { return agent_; }
    /// @throws DataError unless its phase is later, or that of the last entry with the same facts.
    void add(OwnEntry entry);
    /// Whether this is `older`, possibly with lines appended.
    [[nodiscard]] bool extends(std::string_view older) const { return text_.starts_with(older); }
    /// Whether the agent recorded this start in this phase.
    [[nodiscard]] bool knows(int phase, const Digest& session) const;

  private:
    Digest run_;
    int agent_;
    std::vector<OwnEntry> entries_;
    std::string text_;
    Digest head_{};  // of the last line
};

/// A phase according to the agent's record and its marks in the directory.
struct OwnPhase {
    int phase = 0;
    std::vector<Digest> sessions;
    long rounds = 0;  ///< that may have been sent, from the phase's first round on
    PhaseFacts facts;
};
/// By phase. LOCAL.
/// @param marks in the directory; those of other agents are passed over.
/// @throws DataError naming mark and record if one is older than the other: every mark must be of a
/// start in the record.
[[nodiscard]] std::vector<OwnPhase> own_phases(const std::filesystem::path& directory,
                                               const OwnRecord& record,
                                               std::span<const FoundMark> marks);

/// The history may claim more than an agent's own record (phases in which it sent nothing, and
/// rounds), never less. Rounds of the history's last phase are those planned.
/// @param facts of the history's phases.
/// @throws PrivacyError naming agent, phase and field, and both values.
void require_no_less(const std::vector<OwnPhase>& own,
                     int agent,
                     const RunHistory& history,
                     std::span<const FactsOfPhase> facts);

/// Detects an old copy of a record: it lacks a phase in which another agent sent together with this
/// one. COLLECTIVE.
/// @param local the phases of each local agent, by number.
/// @throws DataError, the same everywhere, naming both agents and the phase.
void require_newest(Control& network,
                    const std::vector<std::pair<int, std::vector<OwnPhase>>>& local,
                    const RunHistory& history);

}  // namespace sotto
