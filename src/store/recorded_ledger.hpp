#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

// What the directory of a run says it has revealed.

/// One agent of a run.
struct RecordedAgent {
    int number = 0;
    PrivacyLoss loss;                     ///< may be infinite
    std::optional<std::string> identity;  ///< public key, 64 hexadecimal digits
    std::string name;                     ///< of the roster; empty: none
    /// Of `loss`, what is not counted with another continuation of the run already; none: all.
    std::optional<PrivacyLoss> alone{};

    [[nodiscard]] const PrivacyLoss& apart() const { return alone ? *alone : loss; }
};

/// A stretch of rounds with keys of its own.
struct RecordedPhase {
    std::vector<std::string> sessions;  ///< ids of the starts that sent in it, in order
    long rounds = 0;
    std::vector<PrivacyLoss> losses;  ///< of all agents, by number
};

/// ledger.json of a run (docs/ledger.md), as far as it composes with others, and who took part.
struct RecordedLedger {
    std::filesystem::path directory;
    std::string run;  ///< run id of its first session
    std::string mechanism, status;
    long rounds_planned = 0, rounds_accounted = 0;
    Adjacency adjacency = Adjacency::agent;
    double delta = 0;
    std::string observer;    ///< that the figures hold against
    int coalition_size = 0;  ///< of it
    bool insecure = false;   ///< noise from a noise seed
    std::vector<RecordedPhase> phases;
    std::vector<RecordedAgent> agents;

    /// Whether every agent proved who it is.
    [[nodiscard]] bool has_identities() const;
    /// Whether its rounds are those that were sent, and not all that were planned.
    [[nodiscard]] bool counts_exactly() const {
        return status == "completed" || status == "interrupted";
    }
    /// Of the agent that lost most; the second of what the runs before it do not count.
    [[nodiscard]] PrivacyLoss worst() const;
    [[nodiscard]] PrivacyLoss worst_apart() const;
};

class JsonValue;
/// The phases of a ledger of so many agents. @throws DataError naming what is wrong.
[[nodiscard]] std::vector<RecordedPhase> recorded_phases(const JsonValue& ledger,
                                                         std::size_t agents);

/// @param ledger, manifest texts of ledger.json and manifest.json of the first start.
/// @throws DataError naming the directory, and what is wrong.
[[nodiscard]] RecordedLedger recorded_ledger_from(std::string_view ledger,
                                                  std::string_view manifest,
                                                  const std::filesystem::path& directory);
/// @throws as above; also for files that are missing.
[[nodiscard]] RecordedLedger read_recorded_ledger(const std::filesystem::path& directory);

/// Runs in a directory: itself, or those of a sweep, those whose directories are gone among them
/// (keep_what_was_revealed), in the order of their names. A training that ended before its first
/// round has no ledger and is none.
/// @throws DataError for a directory that holds neither.
[[nodiscard]] std::vector<std::filesystem::path> runs_in(const std::filesystem::path& directory);

/// Keeps ledger.json and manifest.json of a run whose directory is about to go, as a directory of
/// its own in `folder`; nothing where the run did not come to its first round.
void keep_what_was_revealed(const std::filesystem::path& run, const std::filesystem::path& folder);

/// BLAKE2b-256 of what a ledger claims, in hexadecimal digits. Of one that is running or failed,
/// and so counts all planned rounds, that is everything but the status, the rounds completed so far
/// and the views so far: its digest is fixed before the first message.
/// @param ledger text of ledger.json.  @throws DataError if it is none.
[[nodiscard]] std::string ledger_digest(std::string_view ledger);

/// The manifest's text with "ledger_blake2b": the ledgers that may stand beside it. Two while a new
/// one takes the place of another.
[[nodiscard]] std::string with_ledger_digests(const std::string& manifest,
                                              const std::vector<std::string>& digests);

/// agents/<agent>/ledger.blake2b, which every agent's own process writes: digests, one a line.
[[nodiscard]] std::filesystem::path ledger_digest_file(const std::filesystem::path& directory,
                                                       int agent);
void write_ledger_digests(const std::filesystem::path& file,
                          const std::vector<std::string>& digests);
/// Empty where there is no such file. @throws DataError for one that holds something else.
[[nodiscard]] std::vector<std::string> read_ledger_digests(const std::filesystem::path& file);

/// The text of a run's ledger.json, as the last manifest and the copies in the directory of all
/// agents that have not left name it. Who changes ledger, manifest and all copies is found by
/// comparing with an agent's copy elsewhere only.
/// @throws DataError naming the file that is not as it was written.
[[nodiscard]] std::string read_sealed_ledger(const std::filesystem::path& directory);

}  // namespace sotto
