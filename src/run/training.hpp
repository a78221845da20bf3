#pragma once

#include <functional>
#include <string>

#include "run/build_topography.hpp"
#include "run/config.hpp"
#include "run/planning.hpp"
#include "run/task.hpp"
#include "sotto/agent/evaluation.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// Memory and time a run will need, before it starts.
struct RunEstimate {
    bool past_noise_again = false;  ///< noise of earlier rounds is drawn again instead of kept
    double memory_mib = 0;          ///< vectors of one process, beside program and data
    double seconds_per_round =
        0;  ///< measured: gradients and noise with throw-away keys, empty messages
};

/// Told about a training as it goes; on process 0 only.
class TrainingObserver {
  public:
    virtual ~TrainingObserver() = default;
    /// Everything is checked; the first round comes next (or nothing more in a dry run).
    virtual void on_start(const PlannedNoise&,
                          const BuiltTopography&,
                          const std::string& /*task*/,
                          const std::string& /*plan_report*/,
                          const RunEstimate*) {}
    virtual void on_round(long /*completed*/, long /*rounds*/) {}
    virtual void on_evaluation(long /*completed*/, double /*epsilon*/, const Evaluation&) {}
};

/// How a run was taken up.
struct ResumedRun {
    long round = 0;     ///< completed before
    long repeated = 0;  ///< rounds done again, whose messages may have left and count
    std::uint32_t key_epoch = 0;
    bool same_keys = false;        ///< goes on bit for bit; otherwise with noise of new keys
    std::vector<int> agents_gone;  ///< so far
};

/// What one process did in the rounds of this start.
struct RankFigures {
    std::string host;
    std::vector<int> agents;  ///< numbers, ascending
    PhaseSeconds seconds;
    std::int64_t bytes_sent = 0;  ///< by its agents
    double peak_memory_mib = 0;
};

/// Outcome of a training; filled on every process but for what only process 0 knows.
struct TrainResult {
    std::string mechanism;
    int agents = 0;
    int processes = 1;
    long rounds = 0;  ///< completed
    bool interrupted = false;
    bool dry_run = false;
    double epsilon = 0;  ///< spent; infinite without noise
    double mu = 0;
    double delta = 0;
    Evaluation evaluation;  ///< of the last models
    PhaseSeconds phases;    ///< average over processes
    double plan_seconds = 0, evaluate_seconds = 0, loop_seconds = 0, total_seconds = 0;
    std::int64_t bytes_sent = 0;     ///< by all agents
    double peak_memory_mib = 0;      ///< largest process
    std::vector<RankFigures> ranks;  ///< of every process
    std::string run_directory;
    RunEstimate estimate;  ///< dry run only
    std::optional<ResumedRun> resumed;
};

/// The main job: bootstrap (process 0, or every process, builds graph, mixing and plan; all verify;
/// handshake; seeds), rounds, evaluation, ledger, models. COLLECTIVE.
/// @param make_task the agents' inputs where config.task does not say; COLLECTIVE.
/// @param stop_requested polled on every process; when one says yes, all stop after the same round
/// with the ledger written.
/// @throws Error before the first round, the same on every process. In the rounds a failing process
/// of several reports its round and ends the job (Network::abort); alone, it throws.
[[nodiscard]] TrainResult run_training(const TrainConfig& config,
                                       Network& network,
                                       TrainingObserver& observer,
                                       const std::function<bool()>& stop_requested,
                                       const std::function<LocalTask()>& make_task = {});

/// The JSON object of `sotto train` (docs/cli.md), as text.
[[nodiscard]] std::string summary_json(const TrainResult& result, const TrainConfig& config);

}  // namespace sotto
