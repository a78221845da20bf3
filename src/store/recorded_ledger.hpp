#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

struct RecordedAgent {
    int number = 0;
    PrivacyLoss loss;                     ///< may be infinite
    std::optional<std::string> identity;  ///< public key, 64 hexadecimal digits
    std::string name;                     ///< in the roster; empty: none
    /// Part of `loss` that another continuation of the run does not already count; none: all.
    std::optional<PrivacyLoss> alone{};

    [[nodiscard]] const PrivacyLoss& apart() const { return alone ? *alone : loss; }
};

struct RecordedPhase {
    std::vector<std::string> sessions;  ///< ids of its starts, in order
    long rounds = 0;
    std::vector<PrivacyLoss> losses;  ///< of all agents, by number
};

/// ledger.json of a run (docs/ledger.md), as far as composition needs it, and its participants.
struct RecordedLedger {
    std::filesystem::path directory;
    std::string run;  ///< run id of its first session
    std::string mechanism, status;
    long rounds_planned = 0, rounds_accounted = 0;
    Adjacency adjacency = Adjacency::agent;
    std::string unit_column;  ///< empty: single records, or agents
    int unit_agents = 1;      ///< at which a person may have records
    double delta = 0;
    std::string observer;    ///< against whom the figures hold
    int coalition_size = 0;  ///< of the observer
    /// Largest epsilon of an agent against whoever sees all messages, and against the one agent
    /// that learns most; infinite where nothing is protected, none where the ledger does not say.
    std::optional<double> outsider_epsilon, curious_epsilon;
    bool insecure = false;  ///< noise from a noise seed
    std::vector<RecordedPhase> phases;
    std::vector<RecordedAgent> agents;

    /// Whether every agent was authenticated.
    [[nodiscard]] bool has_identities() const;
    /// Whether rounds are those sent, rather than all planned.
    [[nodiscard]] bool counts_exactly() const {
        return status == "completed" || status == "interrupted";
    }
    /// Largest loss of an agent at `delta`; and a loss of at least that of any agent at every delta
    /// (dominating), without what earlier runs count.
    [[nodiscard]] PrivacyLoss worst() const;
    [[nodiscard]] PrivacyLoss anybody_apart() const;
};

class JsonValue;
/// The phases of a ledger of so many agents. @throws DataError naming the problem.
[[nodiscard]] std::vector<RecordedPhase> recorded_phases(const JsonValue& ledger,
                                                         std::size_t agents);

/// @param ledger, manifest texts of ledger.json and manifest.json of the first start.
/// @throws DataError naming directory and problem.
[[nodiscard]] RecordedLedger recorded_ledger_from(std::string_view ledger,
                                                  std::string_view manifest,
                                                  const std::filesystem::path& directory);
/// @throws as above; also for missing files.
[[nodiscard]] RecordedLedger read_recorded_ledger(const std::filesystem::path& directory);

/// Runs in a directory: itself, or those of a sweep by name, including removed ones
/// (keep_what_was_revealed). A training that ended before its first round has no ledger and is
/// ignored.
/// @throws DataError for a directory with neither.
[[nodiscard]] std::vector<std::filesystem::path> runs_in(const std::filesystem::path& directory);

/// Keeps ledger.json and manifest.json of a run whose directory will be removed, as a directory in
/// `folder`; nothing if the run did not reach its first round.
void keep_what_was_revealed(const std::filesystem::path& run, const std::filesystem::path& folder);

/// BLAKE2b-256 of a ledger's claims, in hexadecimal digits. For a running or failed run, which
/// counts all planned rounds, status, rounds completed and views are left out: the digest is fixed
/// before the first message.
/// @param ledger text of ledger.json.  @throws DataError if it is none.
[[nodiscard]] std::string ledger_digest(std::string_view ledger);

/// The manifest's text with "ledger_blake2b": the digests of its valid ledgers, two while one
/// replaces another.
[[nodiscard]] std::string with_ledger_digests(const std::string& manifest,
                                              const std::vector<std::string>& digests);

/// agents/<agent>/ledger.blake2b, written by the agent's own process: one digest per line.
[[nodiscard]] std::filesystem::path ledger_digest_file(const std::filesystem::path& directory,
                                                       int agent);
void write_ledger_digests(const std::filesystem::path& file,
                          const std::vector<std::string>& digests);
/// Empty if the file is missing. @throws DataError for other content.
[[nodiscard]] std::vector<std::string> read_ledger_digests(const std::filesystem::path& file);

/// The text of a run's ledger.json, verified against the last manifest and the digests in the
/// directory of all agents that have not left. If ledger, manifest and all digests were changed,
/// only an agent's copy elsewhere reveals it.
/// @throws DataError naming the file that was changed.
[[nodiscard]] std::string read_sealed_ledger(const std::filesystem::path& directory);

}  // namespace sotto
