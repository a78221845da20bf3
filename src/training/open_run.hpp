#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "agent/evaluation.hpp"
#include "agent/trainer.hpp"
#include "core/stopwatch.hpp"
#include "store/checkpoint_store.hpp"
#include "store/metrics.hpp"
#include "store/run_directory.hpp"
#include "sums/secure_sum.hpp"
#include "training/local_agents.hpp"
#include "training/prepare_run.hpp"
#include "training/train_result.hpp"
#include "trust/key_ring.hpp"

namespace sotto {

/// Progress of the rounds of a run.
struct RunProgress {
    long rounds = 0;  ///< completed
    bool interrupted = false;
    Evaluation evaluation;  ///< the latest one; at the end, of the final models
    Evaluation last;        ///< at the end, of the models after the last round
    Evaluation averaged;    ///< at the end, of the averaged models before final gossip
    LossHistory losses;
    double clipped_share = not_a_number;  ///< see TrainResult
    double without_privacy_accuracy = not_a_number, without_privacy_loss = not_a_number;
    std::optional<double> clip_norm;  ///< at the end, of the first local agent; if learned
    RunTotals totals;
    RoundSeconds seconds;                     ///< of this process since this start
    long rounds_skipped = 0;                  ///< by this process, see LateCounts
    long rounds_without_noise = 0;            ///< LateCounts::noiseless
    std::string own_reports;                  ///< of all agents, if they are in this process
    std::vector<SuspectedAgent> suspected{};  ///< at the end, with --robust
};

/// A training with a run directory and keys, ready for the first round of this start.
struct OpenRun {
    PreparedRun prepared;
    RunDirectory directory;       ///< process 0's; others write only their agents' models
    std::vector<KeyRing> rings;   ///< one per local agent
    std::vector<SecureSum> sums;  ///< likewise, with secure sums
    Recorders recorders;
    std::optional<TensorboardFile> tensorboard;  ///< on process 0, if requested
    RunProgress progress;
    std::optional<AccountUse> account;  ///< of this process, see DeductedRun
    std::string configuration;          ///< text of config.ini
    std::string manifest_file;          ///< name of this start's manifest
    std::string manifest;               ///< its text on process 0, without the digest of the ledger
    /// On process 0, how agents compute gradients, as they state.
    std::vector<std::string> gradients{};
    bool surveyed = false;  ///< surveys were made in this start
};

/// Deducts the run from its agents' budget accounts. Then creates or reopens the run directory with
/// plan, history, manifest and a ledger of all planned rounds, distributes seeds, and protects the
/// links. COLLECTIVE.
/// @throws ConfigError, PrivacyError, CryptoError, NetworkError, the same on every process.
[[nodiscard]] OpenRun open_run(PreparedRun prepared);

/// The part of the result that is known without training, with the privacy loss of `rounds` rounds.
[[nodiscard]] TrainResult result_with_account(const PreparedRun& prepared, long rounds);

/// After the surveys of this start: connects the agents with the keys of the training and writes
/// its plan, history, manifest and ledger. COLLECTIVE. @throws as open_run.
void go_on_to_training(OpenRun& open);

/// Writes config.ini, which marks the run as begun: from then on the directory is for --resume
/// only; without it, a new run can use the directory. Call it after the checkpoint of round 0 and
/// before anything that depends on data is sent. COLLECTIVE.
/// @throws as throw_write_failure does, the same on every process.
void declare_begun(const OpenRun& open);

/// After the rounds, collects figures of all processes and writes the final ledger, summary and
/// history. COLLECTIVE. @param start of the job.  @throws Error, the same on every process.
[[nodiscard]] TrainResult close_run(OpenRun& run, Clock::time_point start);

/// Handles a failure in the rounds: keeps the ledger true and writes failure.txt. If there are
/// other processes, it reports the failure and ends them all (Control::abort). Alone, it throws the
/// failure again, so call it from the handler that caught it. Does not return. LOCAL.
void end_failed_run(const OpenRun& run, const std::exception& failure);

/// One agent's report as a JSON object.
[[nodiscard]] std::string to_json(const AgentReport& report);

/// Writes agents/<agent>/report.json of every local agent, readable by its owner only. It is always
/// written, by the agent's own process, and sent to nobody. LOCAL.
void write_own_reports(const RunDirectory& directory, const Trainer& trainer);

/// The reports that are not empty, as text of a process that hosts all agents; "" if all are empty.
/// @param trainer of all agents.
[[nodiscard]] std::string own_reports_text(const Trainer& trainer);

}  // namespace sotto
