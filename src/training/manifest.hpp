#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/trainer.hpp"
#include "config/config.hpp"
#include "config/peer_notes.hpp"
#include "net/network.hpp"
#include "sotto/plan/membership.hpp"
#include "training/run.hpp"
#include "trust/key_ring.hpp"

namespace sotto {

/// What this process contributes to the manifest.
[[nodiscard]] ProcessNote process_note(const Network& network, const std::vector<KeyRing>& rings);

/// A sentence for ledger and report on the ranks whose secret keys may be written to swap; empty
/// where there are none. @throws NetworkError for what is no note.
[[nodiscard]] std::string statement_on_unlocked_keys(const std::vector<std::string>& process_notes);

/// The text of manifest.json (docs/run-directory.md), but for the digest of the ledger
/// (recorded_ledger.hpp).
/// @param process_notes JSON of every process's note. @throws NetworkError for what is no note.
[[nodiscard]] std::string manifest_json(const Run& run,
                                        const std::vector<std::string>& process_notes);

/// What agents say about how they find gradients: each statement once, with whose it is where not
/// all say it; then what earlier starts stated and nobody says now.
/// @param said by the agent of every process; empty: nothing.  @param earlier texts of manifests.
/// @throws DataError for what is no manifest.
[[nodiscard]] std::vector<std::string> gradient_statements(const std::vector<std::string>& said,
                                                           const Membership& members,
                                                           const std::vector<std::string>& earlier);

/// The text of a manifest with these statements as `gradients`.
[[nodiscard]] std::string with_gradients(const std::string& manifest,
                                         const std::vector<std::string>& statements);

/// What others may be told of the time a process spent on the parts of a round: nothing where that
/// of a gradient says how many records a secretly sampled batch has. (Rounds are as long for all,
/// so any part says it.) @param processes of the job; a single one has nobody to tell.
[[nodiscard]] std::optional<RoundSeconds> seconds_to_tell(const RoundSeconds& seconds,
                                                          const TrainConfig& config,
                                                          int processes);

/// What others may be told of the most memory a process has used: nothing where batches are
/// sampled secretly, since gradients of large models take memory record by record. Padding
/// (--pad-rounds) makes rounds as long, and never as large.
[[nodiscard]] std::optional<double> memory_to_tell(double peak_mib,
                                                   const TrainConfig& config,
                                                   int processes);

/// What one process did in the rounds of this start.
struct RankFigures {
    std::string host;
    std::vector<int> agents;                ///< numbers, ascending
    std::optional<RoundSeconds> seconds;    ///< see seconds_to_tell
    std::int64_t bytes_sent = 0;            ///< by its agents
    std::optional<double> peak_memory_mib;  ///< see memory_to_tell
};

/// Of this process, now. LOCAL. @param seconds of its rounds.
[[nodiscard]] RankFigures own_figures(const Network& network,
                                      const Membership& members,
                                      const RoundSeconds& seconds,
                                      const TrainConfig& config);

[[nodiscard]] std::string to_bytes(const RankFigures& figures);
/// @throws NetworkError naming the rank for figures that are none.
[[nodiscard]] RankFigures rank_figures_from_bytes(std::string_view bytes, std::size_t rank);

/// What every process did in the rounds, and what follows for the whole job.
struct JobFigures {
    std::vector<RankFigures> ranks;         ///< of every process
    std::optional<RoundSeconds> phases;     ///< average over processes, where all tell
    std::int64_t bytes_sent = 0;            ///< by all agents
    std::optional<double> peak_memory_mib;  ///< largest process, where all tell
};
/// The same on every process. COLLECTIVE. @throws NetworkError naming the rank, the same
/// everywhere.
[[nodiscard]] JobFigures gather_figures(Network& network, const RankFigures& own);

}  // namespace sotto
