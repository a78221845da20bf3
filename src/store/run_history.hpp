#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learn/table_shape.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/privacy/ledger.hpp"

namespace sotto {

/// The phases of a run so far, history.json (docs/run-directory.md). Process 0 writes it before the
/// first round of every phase.
struct RunHistory {
    Digest run{};            ///< run id of its first session
    long rounds = 0;         ///< planned
    int starts = 1;          ///< how often processes were started for it
    bool completed = false;  ///< nothing is left to do
    /// Rounds between checkpoints since the last start; 0: none on the way.
    long checkpoint_every = 0;
    /// Of the data that its task read when it began: labels, whose places are the classes of its
    /// models, and features. None and 0 where no data were read for it, or they have values.
    LabelSet labels{};
    long features = 0;
    std::optional<TableShape> table{};  ///< likewise, of tables
    /// `rounds` of a phase that was taken over by another are those whose messages may have left;
    /// of the last one all that are planned. Each holds all that its count depends on, as it was
    /// then: nothing of a phase that is over follows from the options of today.
    std::vector<PrivacyPhase> phases;
};

/// The round up to which messages may leave after `round` rounds, before the next checkpoint.
/// @param every rounds between checkpoints; 0: none on the way.  @param rounds of the run.
[[nodiscard]] long next_checkpoint(long every, long round, long rounds);

/// "plan.json" of phase or start 0, "plan-1.json" of the next, ...
[[nodiscard]] std::string numbered_file(std::string_view stem, std::string_view ending, int number);

/// Without the plans, which have files of their own: plan.json, plan-1.json, ...
[[nodiscard]] std::string to_json(const RunHistory& history);
/// @param plans JSON texts, one a phase.
/// @throws DataError naming the source and what is wrong, a plan of another digest among it.
[[nodiscard]] RunHistory history_from_json(std::string_view text,
                                           const std::vector<std::string>& plans,
                                           const std::string& source);
/// @throws DataError; also for a directory without a history, which no run can be resumed from.
[[nodiscard]] RunHistory read_history(const std::filesystem::path& directory);

}  // namespace sotto
