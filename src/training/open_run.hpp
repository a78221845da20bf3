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

/// How far the rounds of a run have come.
struct RunProgress {
    long rounds = 0;  ///< completed
    bool interrupted = false;
    Evaluation evaluation;  ///< the latest one; in the end of what agents end up with
    Evaluation last;        ///< in the end, of their last models
    Evaluation averaged;    ///< in the end, of means of their models, before final gossip
    LossHistory losses;
    double clipped_share = not_a_number;  ///< see TrainResult
    double without_privacy_accuracy = not_a_number, without_privacy_loss = not_a_number;
    std::optional<double> clip_norm;  ///< in the end, of the first agent here; where learnt
    RunTotals totals;
    RoundSeconds seconds;     ///< of this process in this start
    std::string own_reports;  ///< of all agents, where this process is alone
};

/// A training with a run directory and keys: ready for the first round of this start.
struct OpenRun {
    PreparedRun prepared;
    RunDirectory directory;       ///< process 0's; others write only their agents' models
    std::vector<KeyRing> rings;   ///< one per local agent
    std::vector<SecureSum> sums;  ///< likewise, where agents learn sums only
    Recorders recorders;
    std::optional<TensorboardFile> tensorboard;  ///< on process 0, where it is asked for
    RunProgress progress;
    std::optional<AccountUse> account;  ///< of this process, see DeductedRun
    std::string configuration;          ///< text of config.ini
    std::string manifest_file;          ///< name of this start's
    std::string manifest;  ///< its text, on process 0, but for the digest of the ledger
};

/// Deducts the run from its agents' budget accounts, then creates the run directory, or reopens it,
/// with plan, history, manifest and a ledger of all planned rounds; hands out seeds,
/// and protects the links. COLLECTIVE.
/// @throws ConfigError, PrivacyError, CryptoError, NetworkError, the same on every process.
[[nodiscard]] OpenRun open_run(PreparedRun prepared);

/// Writes config.ini, which says that the run has begun, and only --resume goes on with it: after
/// its checkpoint of round 0, before anything that depends on data is sent. A directory without it
/// can be used again. COLLECTIVE. @throws as throw_write_failure does, the same on every process.
void declare_begun(const OpenRun& open);

/// After the rounds: figures of all processes, the final ledger, summary and history. COLLECTIVE.
/// @param start of the job.  @throws Error, the same on every process.
[[nodiscard]] TrainResult close_run(OpenRun& run, Clock::time_point start);

/// What a process does that failed in the rounds: keeps the ledger true, leaves failure.txt, and,
/// where there are other processes, says why and ends them all (Network::abort). Alone, it throws
/// the failure again: call it from the handler that caught it. Does not return. LOCAL.
void end_failed_run(const OpenRun& run, const std::exception& failure);

/// One agent's report as a JSON object.
[[nodiscard]] std::string to_json(const AgentReport& report);

/// agents/<agent>/report.json of every agent of this process, which only its owner can read.
/// Written whatever it says, by the agent's own process, and sent to nobody. LOCAL.
void write_own_reports(const RunDirectory& directory, const Trainer& trainer);

/// What a process that hosts all agents says of those whose report is not empty; "" if all are.
/// @param trainer of all agents.
[[nodiscard]] std::string own_reports_text(const Trainer& trainer);

}  // namespace sotto
