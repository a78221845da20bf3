#pragma once

#include <filesystem>
#include <optional>
#include <span>
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
    /// Rounds between checkpoints since the last start; 0: none during the run.
    long checkpoint_every = 0;
    /// Labels, whose places are the classes of the models, and features of the data when the run
    /// began. Empty and 0 if no data were read; labels empty if they have values.
    LabelSet labels{};
    long features = 0;
    std::optional<TableShape> table{};         ///< likewise for tables
    std::optional<Standardisation> scaling{};  ///< of all agents, if it was learnt (known_scaling)
    /// `rounds` of a replaced phase are those whose messages may have been sent; of the last one
    /// all that are planned. Each phase stores everything its accounting depends on: later options
    /// do not change it.
    std::vector<PrivacyPhase> phases;
};

/// The round up to which messages may be sent after `round` rounds, before the next checkpoint.
/// @param every rounds between checkpoints; 0: none.  @param rounds of the run.
[[nodiscard]] long next_checkpoint(long every, long round, long rounds);

/// "plan.json" of number 0, "plan-1.json" of the next, ...
[[nodiscard]] std::string numbered_file(std::string_view stem, std::string_view ending, int number);

/// The folder of the run directory with what agents recorded of surveys: "views-norms",
/// "views-norms-1" and so on.
[[nodiscard]] std::string recordings_of(const SurveyKind& survey, int earlier_starts);

/// The file with the plan of phase k: "plan.json", "plan-1.json" and so on of phases that train,
/// "norms.json", "norms-1.json" and so on of surveys.
[[nodiscard]] std::string plan_file_of(std::span<const PrivacyPhase> phases, std::size_t k);

/// Without the plans, which have their own files.
[[nodiscard]] std::string to_json(const RunHistory& history);
/// @param plans JSON texts, one per phase.
/// @throws DataError naming source and problem, such as a plan of another digest.
[[nodiscard]] RunHistory history_from_json(std::string_view text,
                                           const std::vector<std::string>& plans,
                                           const std::string& source);
/// @throws DataError, also for a directory without a history, from which no run can resume.
[[nodiscard]] RunHistory read_history(const std::filesystem::path& directory);

}  // namespace sotto
