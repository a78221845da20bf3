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

/// This process's part of the manifest.
[[nodiscard]] ProcessNote process_note(const Network& network, const std::vector<KeyRing>& rings);

/// A sentence for ledger and report on the ranks whose secret keys may be written to swap; empty if
/// there are none. @throws NetworkError for an invalid note.
[[nodiscard]] std::string statement_on_unlocked_keys(const std::vector<std::string>& process_notes);

/// The text of manifest.json (docs/run-directory.md) without the digest of the ledger
/// (recorded_ledger.hpp).
/// @param process_notes JSON of every process's note. @throws NetworkError for an invalid note.
[[nodiscard]] std::string manifest_json(const Run& run,
                                        const std::vector<std::string>& process_notes);

/// Statements on how agents compute gradients: each one once, with its agents unless all make it;
/// then those of earlier starts that nobody repeats.
/// @param said statement of every process's agent; empty: none.  @param earlier texts of manifests.
/// @throws DataError for an invalid manifest.
[[nodiscard]] std::vector<std::string> gradient_statements(const std::vector<std::string>& said,
                                                           const Membership& members,
                                                           const std::vector<std::string>& earlier);

/// The manifest with these statements as `gradients`.
[[nodiscard]] std::string with_gradients(const std::string& manifest,
                                         const std::vector<std::string>& statements);

/// The times that a process may share with others. None if gradient time reveals the size of a
/// secretly sampled batch; rounds take equally long for all, so any part of the round would reveal
/// it.
/// @param processes of the job; a single one has nobody to share with.
[[nodiscard]] std::optional<RoundSeconds> seconds_to_tell(const RoundSeconds& seconds,
                                                          const TrainConfig& config,
                                                          int processes);

/// The peak memory that a process may share with others. None if batches are sampled secretly,
/// since gradients of large models use memory record by record. Padding (--pad-rounds) equalises
/// the time of rounds, not their memory.
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
    LateCounts late{};                      ///< all 0 without --round-deadline
};

/// Figures of this process now. LOCAL. @param seconds of its rounds.
[[nodiscard]] RankFigures own_figures(const Network& network,
                                      const Membership& members,
                                      const RoundSeconds& seconds,
                                      const TrainConfig& config);

[[nodiscard]] std::string to_bytes(const RankFigures& figures);
/// @throws NetworkError naming the rank for invalid figures.
[[nodiscard]] RankFigures rank_figures_from_bytes(std::string_view bytes, std::size_t rank);

/// What every process did in the rounds, and what follows for the whole job.
struct JobFigures {
    std::vector<RankFigures> ranks;         ///< of every process
    std::optional<RoundSeconds> phases;     ///< average over processes, if all share it
    std::int64_t bytes_sent = 0;            ///< by all agents
    std::optional<double> peak_memory_mib;  ///< largest process, if all share it
};
/// Collects the figures of all processes; the same on every process. COLLECTIVE.
/// @throws NetworkError naming the rank, the same on every process.
[[nodiscard]] JobFigures gather_figures(Network& network, const RankFigures& own);

}  // namespace sotto
