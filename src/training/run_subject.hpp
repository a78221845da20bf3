#pragma once

#include <filesystem>
#include <memory>

#include "account/account_subject.hpp"
#include "store/run_history.hpp"

namespace sotto {

/// A training whose directory is read again, as far as privacy depends on it.
struct RecordedRun {
    TrainConfig config;  ///< it was started with
    RunHistory history;  ///< phases complete
    /// Training rounds that count: those that were completed; of a run that failed, was killed or
    /// still goes on all planned ones, whose messages may have left.
    long rounds = 0;
    BuiltTopography built;  ///< of all agents
};

/// @param directory of the run.  @param config of its config.ini.
/// @throws DataError for files that are missing, damaged or do not belong together; a graph or
/// mixing file that is another than the run's among them; ConfigError as build_topography.
[[nodiscard]] RecordedRun read_recorded_run(const std::filesystem::path& directory,
                                            const TrainConfig& config);

/// What the run has sent, for the accountant.
/// @throws ConfigError if nothing was sent, and as process_steps.
[[nodiscard]] std::unique_ptr<AccountSubject> account_subject_of(const RecordedRun& run);

/// What run_account needs to know of the run, without a view: `sotto account --run`.
[[nodiscard]] SubjectConfig subject_config_of(const RecordedRun& run);

}  // namespace sotto
