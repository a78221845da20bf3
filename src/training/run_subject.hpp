#pragma once

#include <filesystem>
#include <memory>

#include "account/account_subject.hpp"
#include "store/run_history.hpp"

namespace sotto {

/// A training read from its directory, as far as privacy depends on it.
struct RecordedRun {
    TrainConfig config;  ///< of its first start
    RunHistory history;  ///< phases complete
    /// Rounds that count: the completed ones; all planned ones if the run failed, was killed or is
    /// still running, since their messages may have been sent.
    long rounds = 0;
    BuiltTopography built;  ///< of all agents
    /// What all agents have enforced, as the sealed ledger says, if all rounds are of the same
    /// agents.
    std::optional<ConvexLosses> convex{};
};

/// @param directory of the run.  @param config of its config.ini.
/// @throws DataError for files that are missing, damaged or inconsistent, including a changed graph
/// or mixing file; ConfigError as build_topography.
[[nodiscard]] RecordedRun read_recorded_run(const std::filesystem::path& directory,
                                            const TrainConfig& config);

/// What the run has sent, as input of the accountant.
/// @throws ConfigError if nothing was sent, and as process_steps.
[[nodiscard]] std::unique_ptr<AccountSubject> account_subject_of(const RecordedRun& run);

/// The input of run_account for `sotto account --run`, without a view. Convex losses bound partial
/// views of a run that enforced them.
[[nodiscard]] SubjectConfig subject_config_of(const RecordedRun& run);

/// Makes a subject that of other inputs than its run suggests, as `sotto account --inputs` asks.
/// @throws ConfigError for fixed inputs that a training has not, and for convex losses that the run
/// did not enforce, with what to do.
void take_inputs(SubjectConfig& config, const RecordedRun& run, Inputs inputs);

}  // namespace sotto
